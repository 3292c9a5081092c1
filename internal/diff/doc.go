// Package diff lies beside the last arrows of the flow: it holds what a plan
// was merged into or rendered as against the files that run today, and says
// what would change, field by field and flag by flag, why, and in which order
// to do it. What the plan does not own is not compared.
package diff
