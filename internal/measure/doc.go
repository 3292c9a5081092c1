// Package measure is the arrow from a running cluster back to a profile: it
// looks at apiservers, twice, and at their objects, and says as a profile what
// load they carry. What it could not see it names, and leaves to the profile's
// defaults.
package measure
