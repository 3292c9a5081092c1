// Package estimate is the second arrow: from a profile and a layout to
// figures that explain themselves, the pressure on each axis, the axis that
// binds, and what each possible change would do.
package estimate
