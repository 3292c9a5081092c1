// Package rollout is the arrow from plan to the file that people read: the
// order in which a plan is put into force, for a new cluster and for one that
// runs, with the check to make after each step.
package rollout
