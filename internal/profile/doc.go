// Package profile is the first arrow: a user's file becomes a checked
// three-axis profile, or every problem it has at once.
package profile
