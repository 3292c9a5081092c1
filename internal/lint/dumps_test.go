package lint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// mirrored is a pod as the API shows it: with the node's name behind its own,
// and everything that the server adds.
func mirrored(pod string) string {
	pod = strings.Replace(pod, "metadata: {name: kube-apiserver, namespace: kube-system}",
		"metadata:\n  name: kube-apiserver-cp-1\n  namespace: kube-system\n  uid: 0b6f\n  resourceVersion: \"12\"\n  creationTimestamp: \"2026-01-01T00:00:00Z\"\n  annotations: {kubernetes.io/config.mirror: a, kubernetes.io/config.source: file}", 1)
	return pod + "  nodeName: cp-1\nstatus: {phase: Running, qosClass: Burstable}\n"
}

// jsonOf writes YAML as kubectl writes JSON.
func jsonOf(t *testing.T, text string) string {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	pretty, err := json.MarshalIndent(v, "", "    ")
	if err != nil {
		t.Fatal(err)
	}
	return string(pretty) + "\n"
}

// lineOf is the line of a text on which a word stands.
func lineOf(text, word string) int {
	before, _, _ := strings.Cut(text, word)
	return strings.Count(before, "\n") + 1
}

// TestDumps: what the API gives is judged as the files it comes from, in every
// form that kubectl writes, on the right lines.
func TestDumps(t *testing.T) {
	t.Parallel()
	both := list(configMap("{}"), mirrored(stacked(ttl)))
	for name, text := range map[string]string{
		"dump.yaml": both,
		"dump.json": jsonOf(t, both),
	} {
		r := run(t, tree{name: text}, Input{})
		want := []string{name + ":" + itoa(lineOf(text, "--event-ttl")) + " error upgrade-drops-flag"}
		if diff := cmp.Diff(want, brief(r.Findings)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, full(r.Findings))
		}
	}
	single := jsonOf(t, configMap("{extraArgs: [{name: no-such-flag, value: x}]}"))
	r := run(t, tree{"cm.json": single}, Input{})
	want := []string{"cm.json:" + itoa(lineOf(single, `"ClusterConfiguration"`)) + " error flag-unknown"}
	if diff := cmp.Diff(want, brief(r.Findings)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, full(r.Findings))
	}
}

// TestThreeApiservers is case 14: under three apiservers, a store of one
// member restarts them all.
func TestThreeApiservers(t *testing.T) {
	t.Parallel()
	servers := "--etcd-servers-overrides=coordination.k8s.io/leases#https://10.0.0.21:2379"
	files := tree{}
	for _, host := range []string{"1", "2", "3"} {
		pod := manifest("10.0.0.1"+host, servers)
		files["cp-"+host+"/manifests/kube-apiserver.yaml"] = strings.ReplaceAll(pod, "--etcd-servers=https://10.0.0.11:2379", "--etcd-servers=https://10.0.0.11:2379,https://10.0.0.12:2379,https://10.0.0.13:2379")
	}
	r := run(t, files, Input{})
	var want []string
	for _, host := range []string{"1", "2", "3"} {
		want = append(want, "cp-"+host+"/manifests/kube-apiserver.yaml:18 warning probe-tied-to-store")
	}
	if diff := cmp.Diff(want, brief(r.Findings)); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, full(r.Findings))
	}
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "/livez,", "\"/livez?exclude=etcd-override-0\",")
	}
	if r := run(t, files, Input{}); len(r.Findings) > 0 {
		t.Errorf("with the check left out:\n%s", full(r.Findings))
	}
}

// TestDumpsInOneLine: the version stands in the configuration, in whatever way
// a tool writes the text that holds it, with a mark of Windows before it or not.
func TestDumpsInOneLine(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"JSON":          `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kubeadm-config","namespace":"kube-system"},"data":{"ClusterConfiguration":"apiServer: {}\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.1\n"}}`,
		"double quotes": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kubeadm-config}\ndata:\n  ClusterConfiguration: \"apiVersion: kubeadm.k8s.io/v1beta4\\nkind: ClusterConfiguration\\nkubernetesVersion: \\\"v1.36.1\\\"\\n\"\n",
		"a mark":        "\xef\xbb\xbfapiVersion: kubeadm.k8s.io/v1beta4\r\nkind: ClusterConfiguration\r\nkubernetesVersion: v1.36.1\r\n",
	} {
		r := run(t, tree{"a.yaml": text}, Input{})
		if len(r.Findings) > 0 || r.Files != 1 {
			t.Errorf("%s: %d files\n%s", name, r.Files, full(r.Findings))
		}
	}
}
