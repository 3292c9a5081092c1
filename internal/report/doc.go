// Package report is the arrow from estimate, recipe and plan to one page that
// people read: what binds, how far each axis can grow, what the ladder offers
// and what it costs, every number with its formula. The page is one file that
// asks nothing of any network.
package report
