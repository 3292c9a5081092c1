package profile

import (
	"testing"

	"cuelang.org/go/mod/modfile"
)

// TestModulePath reads module files beside CUE's own package: where that gives
// a path it must be the same, and what cannot be read must be an error.
func TestModulePath(t *testing.T) {
	for _, c := range []struct {
		text string
		bad  bool
	}{
		{text: "module: \"example.com/fleet@v0\"\nlanguage: version: \"v0.14.0\"\n"},
		{text: "module: \"example.com/fleet\"\nlanguage: version: \"v0.14.0\"\n"},
		{text: "// ours\nlanguage: version: \"v0.14.0\"\n\"module\": \"example.com/a/b@v2\"\ndeps: \"example.com/c@v0\": v: \"v0.1.0\"\n"},
		{text: "module: 3\nlanguage: version: \"v0.14.0\"\n", bad: true},
		{text: "module: \"example.com\n", bad: true},
	} {
		got, err := modulePath([]byte(c.text), "module.cue")
		if (err != nil) != c.bad {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		want, err := modfile.ParseNonStrict([]byte(c.text), "module.cue")
		if (err != nil) != c.bad {
			t.Errorf("%q: CUE says %v", c.text, err)
			continue
		}
		if err == nil && got != want.ModulePath() {
			t.Errorf("%q: %q, and CUE has %q", c.text, got, want.ModulePath())
		}
	}
	if got, err := modulePath([]byte("language: version: \"v0.14.0\"\n"), "module.cue"); err != nil || got != "" {
		t.Errorf("a file without a path gives %q, %v", got, err)
	}
}
