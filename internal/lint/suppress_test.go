package lint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSuppress(t *testing.T) {
	t.Parallel()
	const bad = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n"
	const arg = "  - {name: no-such-flag, value: \"1\"}"
	for _, tc := range []struct {
		name, text string
		ignore     []Ignore
		want       []string
		reasons    []string
	}{
		{"behind", bad + arg + " # seams:ignore flag-unknown our own build has it\n", nil, []string{}, []string{"our own build has it"}},
		{"above", bad + "  # seams:ignore flag-unknown our own build\n" + arg + "\n", nil, []string{}, []string{"our own build"}},
		{"above, with more comments", bad + "  # seams:ignore flag-unknown our own build\n  # which is another matter\n\n" + arg + "\n", nil, []string{}, []string{"our own build"}},
		{"two on one line of findings", bad + "  # seams:ignore flag-unknown a\n  # seams:ignore flag-deprecated b\n" + arg + "\n", nil, []string{"a.yaml:7 warning suppression-unused"}, []string{"a"}},
		{"not so far above", bad + "  # seams:ignore flag-unknown a\n  - {name: event-ttl, value: 30m}\n" + arg + "\n", nil, []string{"a.yaml:6 warning suppression-unused", "a.yaml:8 error flag-unknown"}, nil},
		{"another code", bad + arg + " # seams:ignore flag-deprecated a\n", nil, []string{"a.yaml:6 error flag-unknown", "a.yaml:6 warning suppression-unused"}, nil},
		{"no reason", bad + arg + " # seams:ignore flag-unknown\n", nil, []string{"a.yaml:6 error suppression-reason", "a.yaml:6 error flag-unknown"}, nil},
		{"nothing at all", bad + arg + " # seams:ignore\n", nil, []string{"a.yaml:6 error suppression-reason", "a.yaml:6 error flag-unknown"}, nil},
		{"by the command", bad + arg + "\n", []Ignore{{"flag-unknown", "all builds are ours"}}, []string{}, []string{"all builds are ours"}},
		{"by the command, in vain", bad + arg + "\n", []Ignore{{"flag-deprecated", "a"}}, []string{":0 warning suppression-unused", "a.yaml:6 error flag-unknown"}, nil},
		{"whole file", "# seams:ignore kubeadm-version-label we pin it elsewhere\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n", nil, []string{}, []string{"we pin it elsewhere"}},
		{"crlf", strings.ReplaceAll(bad+arg+" # seams:ignore flag-unknown our own\n", "\n", "\r\n"), nil, []string{}, []string{"our own"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tree{"a.yaml": tc.text}, Input{Ignore: tc.ignore})
			if diff := cmp.Diff(tc.want, brief(r.Findings)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, full(r.Findings))
			}
			var reasons []string
			for _, s := range r.Suppressed {
				reasons = append(reasons, s.Reason)
				if s.InSource == (len(tc.ignore) > 0) {
					t.Errorf("%v", s)
				}
			}
			if diff := cmp.Diff(tc.reasons, reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSuppressInPieces: a comment in a ConfigMap's text is found on the file's line.
func TestSuppressInPieces(t *testing.T) {
	t.Parallel()
	text := configMap("{extraArgs: [{name: no-such-flag, value: x}]} # seams:ignore flag-unknown our own build")
	if r := run(t, tree{"a.yaml": text}, Input{}); len(r.Findings) != 0 || len(r.Suppressed) != 1 {
		t.Errorf("%d suppressed:\n%s", len(r.Suppressed), full(r.Findings))
	}
}
