// Package binaries finds the upstream programs that a proof runs. It stands
// before the arrow files → prove: what is proven is proven of these bytes.
package binaries
