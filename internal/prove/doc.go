// Package prove is the arrow from rendered files back to evidence: it runs a
// rung's recipe and the stock layout as real processes, drives the load that
// the rung's proof names, and judges what was measured by the rung's limits.
package prove
