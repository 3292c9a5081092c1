package kops

import (
	"path"
	"strings"

	"github.com/kubeseams/seams/internal/file"
)

// flagsVariable is the environment variable that kOps reads its feature flags from.
const flagsVariable = "KOPS_FEATURE_FLAGS"

// featureFlags is the value of KOPS_FEATURE_FLAGS: the caller's, or that of a
// kops-flags.txt among the files.
func featureFlags(in Input) string {
	if in.FeatureFlags != "" {
		return in.FeatureFlags
	}
	for _, f := range in.Files {
		if path.Base(f.Path) == "kops-flags.txt" {
			return flagsIn(f)
		}
	}
	return ""
}

func flagsIn(f file.File) string {
	for line := range strings.Lines(string(f.Data)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), flagsVariable+"="); ok {
			return value
		}
	}
	return ""
}

// enabled reports whether a feature flag is on: flags are separated by commas,
// and "-" before one turns it off.
func (c *checker) enabled(flag string) bool {
	on := false
	for item := range strings.SplitSeq(featureFlags(c.in), ",") {
		switch strings.TrimSpace(item) {
		case flag, "+" + flag:
			on = true
		case "-" + flag:
			on = false
		}
	}
	return on
}
