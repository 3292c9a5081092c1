// Package kind is the arrow from plan to files for kind: a Cluster
// configuration whose node containers realise the same stores, tiers and
// settings, to try a plan on one machine.
package kind
