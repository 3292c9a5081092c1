package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/diff"
)

// comparedFiles are the rendered files below a directory that are no manifests.
func comparedFiles(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, p)
		if top, _, _ := strings.Cut(name, "/"); filepath.Ext(name) == ".md" {
			return err
		} else if top == "aggregated" || top == "kubelet" || top == "patches" || name == "scheduler.yaml" {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) < 5 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	return names
}

// compared runs diff against a rendered directory.
func compared(t *testing.T, target, dir string) diff.Diff {
	t.Helper()
	out, _ := entered(t, "", Main, "diff", "-q", "-o", "json", "--target", target, "../../recipes/examples/agents.cue", dir)
	var d diff.Diff
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestNothingRenderedIsUncompared: a rendered file that is changed is among the
// changes, and one that is missing among those to add or those that are said
// not to be compared; as rendered, none is in either.
func TestNothingRenderedIsUncompared(t *testing.T) {
	dir := t.TempDir()
	entered(t, "", Main, "render", "-q", "-f", "../../recipes/examples/agents.cue", "--target", "staticpod", "--fail-on", "never", "-d", dir+"/wanted")
	wanted := dir + "/wanted"
	settle(t, wanted)
	if d := compared(t, "staticpod", wanted); d.Changed || len(d.NotCompared)+len(d.Instructions) > 0 {
		t.Errorf("as rendered: changed %v, not compared %q, instructions %q", d.Changed, d.NotCompared, d.Instructions)
	}
	names := comparedFiles(t, wanted)
	before := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(wanted, name))
		if err != nil {
			t.Fatal(err)
		}
		before[name] = data
		text := string(data)
		for _, pair := range [][2]string{{"port: 9", "port: 8"}, {"queues: 128", "queues: 64"}, {"kubeAPIQPS: 100", "kubeAPIQPS: 101"}, {"server: https://", "server: https://other."}, {"burst: ", "burst: 1"}} {
			text = strings.Replace(text, pair[0], pair[1], 1)
		}
		if text == string(data) && filepath.Ext(name) != ".yaml" {
			text += "# more\n"
		}
		if text == string(data) {
			t.Fatalf("%s: nothing to change in\n%s", name, text)
		}
		if err := os.WriteFile(filepath.Join(wanted, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	changed := compared(t, "staticpod", wanted)
	for _, name := range names {
		found := false
		for _, doc := range changed.Documents {
			found = found || strings.HasSuffix(doc.File, "/"+name) && doc.Action == diff.ActionChange && len(doc.Changes) > 0
		}
		if !found {
			t.Errorf("%s is changed, and no change says so", name)
		}
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(wanted, name)); err != nil {
			t.Fatal(err)
		}
	}
	missing := compared(t, "staticpod", wanted)
	said := string(encoded(t, missing))
	for _, name := range names {
		if !strings.Contains(said, `"`+name) {
			t.Errorf("%s is missing, and nothing says so", name)
		}
	}
}

// TestTierObjectsOfACluster: objects as "kubectl get -o yaml" prints them, in a
// List and with what the server adds, are no difference; one that is missing
// beside others of its kind is to be added, and a kind that was not asked for
// is said not to be compared.
func TestTierObjectsOfACluster(t *testing.T) {
	dir := t.TempDir()
	entered(t, "", Main, "render", "-q", "-f", "../../recipes/examples/agents.cue", "--target", "staticpod", "--fail-on", "never", "-d", dir+"/wanted")
	settle(t, dir+"/wanted")
	if err := os.RemoveAll(dir + "/wanted/aggregated"); err != nil {
		t.Fatal(err)
	}
	dump := func(items string) {
		text := "apiVersion: v1\nkind: List\nitems:\n" + items
		if err := os.WriteFile(dir+"/wanted/dump.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const namespace = `- apiVersion: v1
  kind: Namespace
  metadata:
    name: seams-system
    uid: 2b0c1a3e-0000-4000-8000-000000000000
    labels: {app.kubernetes.io/part-of: seams, kubernetes.io/metadata.name: seams-system}
  spec: {finalizers: [kubernetes]}
  status: {phase: Active}
`
	const level = `- apiVersion: flowcontrol.apiserver.k8s.io/v1
  kind: PriorityLevelConfiguration
  metadata:
    name: seams-aggregated
    labels:
      app.kubernetes.io/part-of: seams
  spec:
    type: Limited
    limited:
      nominalConcurrencyShares: SHARES
      limitResponse: {type: Queue, queuing: {queues: 128, handSize: 6, queueLengthLimit: 50}}
      lendablePercent: 50
      borrowingLimitPercent: 0
  status: {}
`
	const other = "- apiVersion: v1\n  kind: Service\n  metadata: {name: mine, namespace: seams-system}\n"
	dump(namespace + strings.Replace(level, "SHARES", "40", 1))
	d := compared(t, "staticpod", dir+"/wanted")
	if d.Changed || !strings.Contains(strings.Join(d.NotCompared, "\n"), "aggregated/objects.yaml (ClusterRole)") {
		t.Errorf("as the server has them: changed %v, not compared %q, %+v", d.Changed, d.NotCompared, d.Documents)
	}
	dump(strings.Replace(level, "SHARES", "10", 1) + other)
	d = compared(t, "staticpod", dir+"/wanted")
	said := string(encoded(t, d))
	for _, text := range []string{`"path":"spec.limited.nominalConcurrencyShares","op":"replace","old":10,"new":40`, `"file":"aggregated/agents-example-dev/objects.yaml","object":"Service agents-example-dev"`, `"within":"items[0]"`} {
		if !strings.Contains(said, text) {
			t.Errorf("no %s in\n%s", text, said)
		}
	}
	for _, doc := range d.Documents {
		if len(doc.Reasons) == 0 && doc.Action == diff.ActionAdd {
			t.Errorf("%s %s is added without a reason", doc.File, doc.Object)
		}
	}
}
