// Package estimate is the second arrow: from a profile and a layout to
// figures that explain themselves, the pressure on each axis, the axis that
// binds, and what each possible change would do.
//
// Everything is arithmetic on the profile and the constants of constants.go,
// done with terms: a term carries its value, its band, the text of its formula
// and its inputs, so that a figure cannot say one thing and be another. Demand
// is attributed by what causes it: nodes, with their leases, status and pods;
// churn, with events and watch history; state, with everything else that is
// kept. So one axis can be at its wall while the others are flat. None of it is
// a measurement; each figure names the published or measured ones it rests on.
package estimate
