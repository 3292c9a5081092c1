// Package generators is the fifth arrow, from a plan to files. The packages
// below it turn a plan into upstream's own typed objects, one package for each
// target; this package writes those objects down, once and always alike.
package generators
