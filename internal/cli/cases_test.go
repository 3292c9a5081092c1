package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/diff"
	"github.com/kubeseams/seams/internal/finding"
)

// The cases about a cluster that is there and is to become another. Their files
// are below e2e/cases.
const diffCases = "../../e2e/cases/diff/"

// diffOf compares, and gives what came of it.
func diffOf(t *testing.T, args ...string) diff.Diff {
	t.Helper()
	out, code := entered(t, "", Main, slices.Concat([]string{"diff", "-o", "json"}, args)...)
	var d diff.Diff
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != exitFindings {
		t.Fatalf("exit code %d, %v:\n%s", code, err, out)
	}
	return d
}

// stepOf is the place of the step of whose commands, or title, one has a text; -1 for none.
func stepOf(d diff.Diff, text string) int {
	return slices.IndexFunc(d.Rollout, func(s diff.Step) bool {
		return strings.Contains(s.Title, text) || slices.ContainsFunc(s.Commands, func(c string) bool { return strings.Contains(c, text) })
	})
}

// TestCase33MovedLeases: leases that move to a store of their own. The old ones
// are deleted, and only once the new ones are seen; nobody who acts on leases
// runs while apiservers disagree; those who watched list anew.
func TestCase33MovedLeases(t *testing.T) {
	const orphans = "del --prefix /registry/leases/"
	for name, tc := range map[string]struct {
		args []string
		// together is the step in which all apiservers change sides, and before it
		// and after it what must be done then.
		before, together, after string
	}{
		"kubeadm, three hosts": {[]string{"33-three-hosts.yaml", "33-kubeadm.yaml"}, "Stop controller managers and schedulers", "Switch all apiservers together", "Restart what elects a leader or watches leases"},
		"kubeadm, one host":    {[]string{"33-one-host.yaml", "33-kubeadm.yaml"}, "Stop controller managers and schedulers", "Switch all apiservers together", "Restart what elects a leader or watches leases"},
		"kOps":                 {[]string{"33-kops-profile.yaml", "kops.yaml"}, "kops update cluster", "--instance-group-roles=control-plane --cloudonly --control-plane-interval=1s --force", "del --prefix"},
	} {
		t.Run(name, func(t *testing.T) {
			d := diffOf(t, "--rung", "node/leases-store", diffCases+tc.args[0], diffCases+tc.args[1])
			before, together, after, last := stepOf(d, tc.before), stepOf(d, tc.together), stepOf(d, tc.after), stepOf(d, orphans)
			if before < 0 || before >= together || together >= after || after > last || last != len(d.Rollout)-1 {
				t.Errorf("steps %d, %d, %d, and the old leases at %d of %d", before, together, after, last, len(d.Rollout))
			}
			deletes := d.Rollout[last]
			if !strings.Contains(deletes.Check, "--count-only") || !strings.Contains(deletes.Expect, "count of 0") || deletes.Hazard == "" {
				t.Errorf("the old leases go without a check: %+v", deletes)
			}
			if !strings.Contains(d.Rollout[together].Why, "50 s") {
				t.Errorf("the grace period is not named: %s", d.Rollout[together].Why)
			}
			if text := string(encoded(t, d.Rollout)); strings.Contains(text, "del --prefix /registry/events") {
				t.Error("Events are deleted, which expire")
			}
			hazards := string(encoded(t, d.Hazards))
			for _, text := range []string{"every Lease exists twice", "two leaders", "resourceVersions begin low", "stay in the main etcd for ever"} {
				if !strings.Contains(hazards, text) {
					t.Errorf("no hazard has %q", text)
				}
			}
		})
	}
	d := diffOf(t, "--rung", "node/ci-5k", diffCases+"33-three-hosts.yaml", diffCases+"33-kubeadm.yaml")
	if stepOf(d, orphans) >= 0 || stepOf(d, "Stop controller managers") >= 0 {
		t.Error("without a move of leases they are treated as moved")
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// coded are the findings of a code.
func coded(found []finding.Finding, code string) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Code != code })
}

// TestCase39Quota: a database of 5 GiB needs a quota that is written down, and
// 0.6 of it is the most that passes without a warning; what fits passes.
func TestCase39Quota(t *testing.T) {
	d := diffOf(t, "--rung", "state/stock", diffCases+"39-big.yaml", diffCases+"kops.yaml")
	want := diff.Change{Path: "spec.etcdClusters[main].manager.env[ETCD_QUOTA_BACKEND_BYTES]", Op: diff.OpAdd, New: "8589934592"}
	i := slices.IndexFunc(d.Documents[0].Changes, func(c diff.Change) bool {
		return c.Path == want.Path && c.Op == want.Op && c.New == want.New && c.Old == nil
	})
	if i < 0 {
		t.Errorf("no quota is set: %+v", d.Documents[0].Changes)
	}
	const warning = "database-near-quota"
	for name, tc := range map[string]struct {
		file string
		args []string
		want bool
	}{
		"beyond 0.6 of 8 GiB": {"39-big.yaml", nil, true},
		"the same by kubeadm": {"39-big.yaml", []string{"--target", "kubeadm"}, true},
		"half as much":        {"39-half.yaml", nil, false},
		"as much under 4 GiB": {"39-half-in-less.yaml", nil, true},
	} {
		out, _ := entered(t, "", Main, slices.Concat([]string{"explain", "--fail-on", "never", "-o", "json", "-f", diffCases + tc.file}, tc.args)...)
		if got := strings.Contains(out, warning); got != tc.want {
			t.Errorf("%s: the warning is %v, want %v", name, got, tc.want)
		}
	}
}

// TestCase40Volume: a volume that grows under an etcd that is there, by the
// user's own edit and by an overlay; without a change nothing is said.
func TestCase40Volume(t *testing.T) {
	before, err := os.ReadFile(diffCases + "kops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	grown := filepath.Join(t.TempDir(), "grown.yaml")
	for cloud, says := range map[string]string{"aws": "etcd gets the room only when its machine is replaced", "gce": "kOps does not change a disk on gce"} {
		was := filepath.Join(t.TempDir(), "was.yaml")
		text := strings.Replace(string(before), "cloudProvider: aws", "cloudProvider: "+cloud, 1)
		for name, data := range map[string]string{was: text, grown: strings.Replace(text, "volumeSize: 20", "volumeSize: 100", 1)} {
			if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, _ := entered(t, "", Main, "lint", "--fail-on", "never", "--before", was, grown)
		if !strings.Contains(out, says) || strings.Count(out, "kops-volume-changed") != 1 {
			t.Errorf("%s:\n%s", cloud, out)
		}
		if out, _ := entered(t, "", Main, "lint", "--fail-on", "never", "--before", was, was); strings.Contains(out, "kops-volume-changed") {
			t.Errorf("%s, nothing changed:\n%s", cloud, out)
		}
	}
	d := diffOf(t, "--rung", "state/stock", "--overlay", diffCases+"40-grow.jsonnet", diffCases+"39-half.yaml", diffCases+"kops.yaml")
	if got := coded(d.Findings, "kops-volume-changed"); len(got) != 2 || got[0].Severity != finding.Warning {
		t.Errorf("the overlay's volumes: %v", d.Findings)
	}
	if d := diffOf(t, "--rung", "state/stock", diffCases+"39-half.yaml", diffCases+"kops.yaml"); len(coded(d.Findings, "kops-volume-kept")) == 0 {
		t.Errorf("nobody says that the volumes stay: %v", d.Findings)
	}
}
