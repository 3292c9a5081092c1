package profile

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/finding"
)

// TestCases loads the profiles of real reports. Each is good, or has exactly
// the error that its report is about.
func TestCases(t *testing.T) {
	wrong := map[string]string{
		"43b-long-lease-short-grace": CodeLeaseRenewExceedsGrace,
		"43d-grace-equals-renew":     CodeLeaseRenewExceedsGrace,
		"44d-event-ttl-zero":         CodeEventTTLZero,
	}
	dir := "../../e2e/cases/profiles"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) < 19 {
		t.Fatalf("%d cases in %s, want 19 or more", len(entries), dir)
	}
	l, err := NewLoader()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		id := strings.TrimSuffix(e.Name(), ".yaml")
		t.Run(id, func(t *testing.T) {
			got, found, err := l.Load(context.Background(), Options{Path: filepath.Join(dir, e.Name())})
			if err != nil {
				t.Fatal(err)
			}
			if refused := id == "44d-event-ttl-zero"; refused != (len(got) == 0) {
				t.Errorf("%d profiles; findings:\n%s", len(got), lines(found))
			}
			if len(got) == 1 && got[0].Profile.Name != id {
				t.Errorf("the profile is called %q", got[0].Profile.Name)
			}
			var errs []string
			for _, f := range found {
				if f.Severity == finding.Error {
					errs = append(errs, f.Code)
				}
			}
			if got := strings.Join(errs, " "); got != wrong[id] {
				t.Errorf("errors %q, want %q:\n%s", got, wrong[id], lines(found))
			}
		})
	}
}

// TestExamples loads the example profiles one by one and as a package, both
// without a single finding.
func TestExamples(t *testing.T) {
	l, err := NewLoader()
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	for _, name := range []string{"training-15k", "training-100k", "agents", "platform"} {
		got, found, err := l.Load(context.Background(), Options{Path: "../../recipes/examples/" + name + ".cue"})
		if err != nil || len(got) != 1 || len(found) > 0 {
			t.Fatalf("%s: %d profiles, %v\n%s", name, len(got), err, lines(found))
		}
		if got[0].Profile.Name != name {
			t.Errorf("%s is called %q", name, got[0].Profile.Name)
		}
		digests[name] = got[0].Digest
	}
	got, found, err := l.Load(context.Background(), Options{Path: "../../recipes/examples"})
	if err != nil || len(found) > 0 {
		t.Fatalf("the package: %d profiles, %v\n%s", len(got), err, lines(found))
	}
	for _, p := range got {
		if digests[p.Profile.Name] == p.Digest {
			delete(digests, p.Profile.Name)
		}
	}
	if len(digests) > 0 {
		t.Errorf("the package lacks %v", slices.Sorted(maps.Keys(digests)))
	}
}
