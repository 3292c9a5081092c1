// Package plan is the fourth arrow: from a profile and a recipe to what must
// stand where, and in which order it is rolled out.
package plan
