package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/diff"
	"github.com/kubeseams/seams/internal/recipe"
)

// entered runs the program in this process.
func entered(t *testing.T, in string, main func(context.Context, Streams, []string) int, args ...string) (out string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = main(t.Context(), Streams{In: strings.NewReader(in), Out: &stdout, Err: &stderr}, args)
	if code == exitFailure {
		t.Fatalf("%v: %s", args, stderr.String())
	}
	return stdout.String(), code
}

var stock = []string{"--rung", "node/stock", "--rung", "churn/stock", "--rung", "state/stock"}

// TestEveryChangeHasAReason: from the stock layout to each example's recipe,
// every change names a chosen rung, whose seams it stays within, or a field of
// the profile; and what the recipe renders has nothing to change.
func TestEveryChangeHasAReason(t *testing.T) {
	ladder, _, err := recipe.Load(recipe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range []string{"training-15k", "training-100k", "agents", "platform"} {
		t.Run(example, func(t *testing.T) {
			profile := filepath.Join("..", "..", "recipes", "examples", example+".cue")
			dir := t.TempDir()
			entered(t, "", Main, slices.Concat([]string{"render", "-q", "-f", profile, "--target", "staticpod", "--fail-on", "never", "-d", dir + "/stock"}, stock)...)
			out, _ := entered(t, "", Main, "diff", "-q", "-o", "json", profile, dir+"/stock")
			var d diff.Diff
			if err := json.Unmarshal([]byte(out), &d); err != nil {
				t.Fatal(err)
			}
			if !d.Changed || len(d.Rollout) == 0 || len(d.Hazards) == 0 {
				t.Errorf("nothing changes, or without steps and hazards")
			}
			for _, doc := range d.Documents {
				reasons := [][]diff.Reason{doc.Reasons}
				for _, c := range doc.Changes {
					reasons = append(reasons, c.Reasons)
					if len(c.Reasons) == 0 {
						t.Errorf("%s %s: %+v has no reason", doc.File, doc.Object, c)
					}
				}
				if doc.Action == diff.ActionAdd && len(doc.Reasons) == 0 {
					t.Errorf("%s is added without a reason", doc.File)
				}
				for _, r := range slices.Concat(reasons...) {
					rung, ok := ladder.Rung(r.Rung)
					if r.Rung != "" && (!ok || !slices.Contains(d.Rungs, r.Rung)) || r.Rung == "" && r.Profile == "" {
						t.Errorf("%s: nobody's reason %+v", doc.File, r)
					}
					for _, s := range r.Seams {
						if !slices.Contains(rung.Seams, s) {
							t.Errorf("%s: %s is no seam of %s", doc.File, s, r.Rung)
						}
					}
				}
			}
			entered(t, "", Main, "render", "-q", "-f", profile, "--target", "staticpod", "--fail-on", "never", "-d", dir+"/wanted")
			settle(t, dir+"/wanted")
			if out, code := entered(t, "", Main, "diff", "-q", "--target", "staticpod", profile, dir+"/wanted"); code != exitClean {
				t.Errorf("what is rendered is not what is wanted:\n%s", out)
			}
		})
	}
}

// settle puts the manifests that hosts keep in the place of those that stores begin with.
func settle(t *testing.T, dir string) {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(dir, "manifests-steady", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range kept {
		host, file := filepath.Base(filepath.Dir(name)), filepath.Base(name)
		if err := os.Rename(name, filepath.Join(dir, "manifests", host, file)); err != nil {
			t.Fatal(err)
		}
	}
}

const kopsProfile = `name: shop
kubernetes: "1.36"
platform: {kind: kops, kops: {version: "1.36.2", cloud: aws}}
nodes: {count: 4800, targetCount: 9000}
controlPlane: {apiservers: 3}
`

// TestFilterKeepsBytes: documents in any layout, with the recipe in them, come
// out of the filter byte for byte as they went in.
func TestFilterKeepsBytes(t *testing.T) {
	user, err := os.ReadFile(filepath.Join("..", "..", "generators", "kops", "testdata", "merge", "user.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(t.TempDir(), "profile.yaml")
	if err := os.WriteFile(profile, []byte(kopsProfile), 0o600); err != nil {
		t.Fatal(err)
	}
	layouts := rapid.Custom(func(t *rapid.T) string { return relaid(t, string(user)) })
	for seed := range 25 {
		merged, code := entered(t, layouts.Example(seed), KopsMain, "-q", "-f", profile)
		if code != exitClean || !strings.Contains(merged, "name: leases") {
			t.Fatalf("exit code %d of\n%s", code, layouts.Example(seed))
		}
		if again, code := entered(t, merged, KopsMain, "-q", "-f", profile); again != merged || code != exitClean {
			t.Fatalf("exit code %d, and from\n%s\ncame\n%s", code, merged, again)
		}
	}
}

// relaid lays documents out anew: comments, blank lines, line breaks of Windows.
func relaid(t *rapid.T, text string) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		switch rapid.IntRange(0, 19).Draw(t, "change") {
		case 0:
			out = append(out, "# remark")
		case 1:
			out = append(out, "")
		case 2:
			if line != "" && !strings.HasPrefix(line, "---") {
				line += "   # remark"
			}
		}
		out = append(out, line)
	}
	text = strings.Join(out, "\n")
	if rapid.IntRange(0, 3).Draw(t, "windows") == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
		text = strings.TrimRight(text, "\r\n ")
	}
	return text
}

// TestApart: the objects that are taken out and what is left are all there was.
func TestApart(t *testing.T) {
	const cluster = "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster # c\n"
	const object = "apiVersion: v1\nkind: ConfigMap\n"
	for _, tc := range []struct {
		stream, rest string
		objects      int
	}{
		{cluster, cluster, 0},
		{cluster + "---\n# only this\n", cluster + "---\n# only this\n", 0},
		{object + "---\n" + cluster, cluster, 1},
		{cluster + "---\n" + object, cluster, 1},
		{cluster + "\n---\n\n" + object + "---\n" + cluster, cluster + "\n---\n" + cluster, 1},
		{"--- # x\n" + object + "--- # y\n" + cluster, "--- # y\n" + cluster, 1},
	} {
		rest, objects := apart([]byte(tc.stream))
		if string(rest) != tc.rest || len(objects) != tc.objects {
			t.Errorf("%q: %q and %d objects, want %q and %d", tc.stream, rest, len(objects), tc.rest, tc.objects)
		}
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"a.b=c": "a.b=c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "l#0": "'l#0'"} {
		if got := quoted(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
