// Package recipe is the third arrow: from a profile and its estimate to the
// rungs of the ladder that carry it, unified in CUE into one set of settings.
package recipe
