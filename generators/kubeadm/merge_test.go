package kubeadm_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/golden"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

func presentText(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/present/present.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func merge(t testing.TB, text string, p *plan.Plan) (string, []finding.Finding) {
	t.Helper()
	present, err := kubeadm.ReadPresent([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	merged, findings, err := present.Merge(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(merged), findings
}

func running() *plan.Plan {
	return plantest.NodeTier(target.Target{Kubernetes: plantest.Version(36), Platform: target.Kubeadm})
}

func lines(fs []finding.Finding) string {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

func TestMergeGolden(t *testing.T) {
	merged, findings := merge(t, presentText(t), running())
	golden.File(t, "testdata/present/merged.yaml", merged)
	golden.File(t, "testdata/present/findings.txt", lines(findings))
}

// A line of the cluster's own that is gone is one that a finding has the old value of.
func TestMergeKeepsWhatIsNotThePlans(t *testing.T) {
	text := presentText(t)
	merged, findings := merge(t, text, running())
	after := strings.Split(merged, "\n")
	var gone []string
	for line := range strings.SplitSeq(text, "\n") {
		i := slices.Index(after, line)
		if i < 0 {
			gone = append(gone, strings.TrimSpace(line))
			continue
		}
		after = after[i+1:]
	}
	want := []string{
		"value: /pods#https://10.9.9.9:2379", "value: 2m0s # ours", "scheduler: {}", "nodeStatusReportFrequency: 0s", "nodeStatusUpdateFrequency: 10s",
	}
	for _, line := range gone {
		if !slices.Contains(want, line) {
			t.Errorf("%q is gone", line)
		}
	}
	for _, kept := range []string{"encryption-provider-config", "oidc-issuer-url", "v1.36.1", "registry.example.com/kubernetes", "api.internal.example.com", "maxPods: 250", "192.168.0.0/16"} {
		if strings.Contains(text, kept) && !strings.Contains(merged, kept) {
			t.Errorf("%s is gone, with\n%s", kept, lines(findings))
		}
	}
	if again, more := merge(t, merged, running()); again != merged {
		t.Errorf("a second merge changes it:\n%s", lines(more))
	}
}

// What kubeadm reads from the merged documents and a host's is a cluster that
// it validates, with the user's arguments and the plan's in the manifest.
func TestKubeadmTakesWhatIsMerged(t *testing.T) {
	p := running()
	files, _, err := kubeadm.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	merged, _ := merge(t, presentText(t), p)
	for i := range files {
		if files[i].Path == "host-cp-2.yaml" {
			files[i].Path, files[i].Data = "init.yaml", slices.Concat([]byte(merged), []byte("\n---\n"), files[i].Data)
		} else if files[i].Path == "init.yaml" {
			files[i].Path = "unused"
		}
	}
	pods, cfg := rendered(t, files)
	if cfg.LocalAPIEndpoint.AdvertiseAddress != "10.0.0.12" || cfg.NodeRegistration.Name != "cp-2" {
		t.Errorf("the host is %+v", cfg.LocalAPIEndpoint)
	}
	command := strings.Join(pods["kube-apiserver"].Spec.Containers[0].Command, "\n")
	for _, want := range []string{
		"--encryption-provider-config=/etc/kubernetes/enc.yaml", "--oidc-issuer-url=https://login.example.com", "--max-requests-inflight=2000",
		"--etcd-servers-overrides=/pods#https://10.9.9.9:2379,/events#", "--feature-gates=AllAlpha=false",
	} {
		if !strings.Contains(command, want) {
			t.Errorf("no %s in\n%s", want, command)
		}
	}
}

func TestMergeFindings(t *testing.T) {
	text := presentText(t)
	for name, test := range map[string]struct {
		old, new  string
		code, has string
	}{
		"larger capacity stays":       {"", "", "kubeadm-capacity-kept", `value: "2000"`},
		"replaced value":              {"", "", "kubeadm-replaced", "value: 150s"},
		"larger quota stays":          {"", "", "kubeadm-capacity-kept", `value: "17179869184"`},
		"smaller quota grows":         {`"17179869184"`, `"2147483648"`, "kubeadm-replaced", `value: "8589934592"`},
		"argument twice":              {"  - name: oidc-issuer-url\n", "  - name: max-requests-inflight\n    value: \"3\"\n  - name: oidc-issuer-url\n", "kubeadm-merge-refused", `value: "3"`},
		"alias":                       {"  extraArgs:\n  - name: bind-address", "  extraArgs: &a\n  - name: bind-address", "kubeadm-merge-refused", "extraArgs: &a"},
		"external etcd":               {"  local:\n    dataDir: /data/etcd\n    extraArgs:\n    - name: quota-backend-bytes\n      value: \"17179869184\"\n", "  external:\n    endpoints: [https://10.0.0.9:2379]\n", "kubeadm-etcd-external", "external:"},
		"no kubelet":                  {text[strings.Index(text, "---\n"):], "", "kubeadm-kubelet-missing", "ClusterConfiguration"},
		"other endpoint":              {"", "", "kubeadm-present-differs", "controlPlaneEndpoint: api.internal.example.com:6443"},
		"other registry":              {"", "", "kubeadm-image-repository", "imageRepository: registry.example.com/kubernetes"},
		"tier lacks own flags":        {"", "", "kubeadm-tier-arguments", ""},
		"own scheduler configuration": {"scheduler: {}", "scheduler: {extraArgs: [{name: config, value: /etc/own.yaml}]}", "kubeadm-scheduler-config", "scheduler: {extraArgs: [{name: config, value: /etc/own.yaml}]}"},
		"kubelet's larger rate stays": {"kubeAPIQPS: 500", "kubeAPIQPS: 600", "kubeadm-capacity-kept", "kubeAPIQPS: 600"},
	} {
		in := text
		if test.old != "" {
			if in = strings.Replace(text, test.old, test.new, 1); in == text {
				t.Fatalf("%s: %q is not there", name, test.old)
			}
		}
		merged, findings := merge(t, in, running())
		if !slices.ContainsFunc(findings, func(f finding.Finding) bool { return f.Code == test.code }) {
			t.Errorf("%s: no %s among\n%s", name, test.code, lines(findings))
		}
		if !strings.Contains(merged, test.has) {
			t.Errorf("%s: no %q in\n%s", name, test.has, merged)
		}
	}
}

// ConfigMaps as kubectl writes them give the documents that they hold.
func TestMergeReadsConfigMaps(t *testing.T) {
	text := presentText(t)
	cluster, kubelet, _ := strings.Cut(text, "---\n")
	indent := func(s, by string) string {
		return by + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+by) + "\n"
	}
	maps := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kubeadm-config}\ndata:\n  ClusterConfiguration: |\n" + indent(cluster, "    ") +
		"---\napiVersion: v1\nkind: ConfigMap\ndata:\n  kubelet: |\n" + indent(kubelet, "    ")
	want, _ := merge(t, text, running())
	if got, _ := merge(t, maps, running()); got != want {
		t.Errorf("ConfigMaps merge to\n%s\nand their documents to\n%s", got, want)
	}
	list := "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  data:\n    ClusterConfiguration: |\n" + indent(cluster, "      ") +
		"- apiVersion: v1\n  kind: ConfigMap\n  data:\n    kubelet: |\n" + indent(kubelet, "      ")
	if got, _ := merge(t, list, running()); got != want {
		t.Errorf("a List merges to\n%s", got)
	}
}

func TestReadPresentFails(t *testing.T) {
	text := presentText(t)
	for name, in := range map[string]string{
		"nothing":          "",
		"no cluster":       text[strings.Index(text, "---\n")+4:],
		"twice":            text + "---\n" + text,
		"v1beta3":          strings.Replace(text, "v1beta4", "v1beta3", 1),
		"no YAML":          "a: [",
		"key twice":        "a: 1\na: 2\n",
		"another map":      "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n",
		"broken in a map":  "apiVersion: v1\nkind: ConfigMap\ndata: {kubelet: 'a: ['}\n",
		"item is no map":   "apiVersion: v1\nkind: List\nitems: [3]\n",
		"map without data": "apiVersion: v1\nkind: ConfigMap\n",
	} {
		if _, err := kubeadm.ReadPresent([]byte(in)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// Comments and empty lines anywhere change nothing of what a merge keeps, and a
// merge of a merge is the same.
func TestMergeLaws(t *testing.T) {
	text := presentText(t)
	p := running()
	rapid.Check(t, func(rt *rapid.T) {
		var in []string
		remarks := 0
		for line := range strings.SplitSeq(text, "\n") {
			if rapid.IntRange(0, 19).Draw(rt, "remark") == 0 {
				in = append(in, strings.Repeat(" ", rapid.IntRange(0, 8).Draw(rt, "indent"))+"# remark")
				remarks++
			}
			in = append(in, line)
		}
		present, err := kubeadm.ReadPresent([]byte(strings.Join(in, "\n")))
		if err != nil {
			rt.Fatal(err)
		}
		merged, _, err := present.Merge(p)
		if err != nil {
			rt.Fatal(err)
		}
		if got := bytes.Count(merged, []byte("# remark")); got != remarks {
			rt.Fatalf("%d remarks, after it %d:\n%s", remarks, got, merged)
		}
		again, err := kubeadm.ReadPresent(merged)
		if err != nil {
			rt.Fatal(err)
		}
		if twice, _, err := again.Merge(p); err != nil || !bytes.Equal(twice, merged) {
			rt.Fatalf("again: %v\n%s", err, twice)
		}
	})
}

func FuzzMerge(f *testing.F) {
	text := presentText(f)
	f.Add([]byte(text))
	f.Add([]byte("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\napiServer: {extraArgs: [{name: a, value: b}]}\n"))
	f.Add([]byte("apiVersion: v1\nkind: ConfigMap\ndata:\n  ClusterConfiguration: |\n    apiVersion: kubeadm.k8s.io/v1beta4\n    kind: ClusterConfiguration\n"))
	p := running()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		present, err := kubeadm.ReadPresent(data)
		if err != nil {
			return
		}
		merged, _, err := present.Merge(p)
		if err != nil {
			return
		}
		again, err := kubeadm.ReadPresent(merged)
		if err != nil {
			t.Fatalf("%v in\n%s", err, merged)
		}
		if twice, _, err := again.Merge(p); err != nil || !bytes.Equal(twice, merged) {
			t.Fatalf("again: %v\n%q\n%q", err, merged, twice)
		}
	})
}

// TestMergeEqualValues: a value in other words is no difference, and stays as it
// is written.
func TestMergeEqualValues(t *testing.T) {
	p := running()
	p.Tiers[0].Flags["etcd-compaction-interval"] = "150s"
	p.Tiers[0].Flags["delete-collection-workers"] = "16"
	p.Kubelet.NodeStatusReportSeconds = 600
	first, _ := merge(t, presentText(t), p)
	for have, other := range map[string]string{
		"name: etcd-compaction-interval\n    value: 150s":    "name: etcd-compaction-interval\n    value: 2m30s",
		"name: delete-collection-workers\n    value: \"16\"": "name: delete-collection-workers\n    value: \"0x10\"",
		"nodeStatusReportFrequency: 10m0s":                   "nodeStatusReportFrequency: 600s",
		"ShardedListAndWatch=false":                          "ShardedListAndWatch=F",
	} {
		text := strings.Replace(first, have, other, 1)
		if text == first {
			t.Fatalf("no %q in\n%s", have, first)
		}
		if again, findings := merge(t, text, p); again != text {
			t.Errorf("%q was changed:\n%s", other, lines(findings))
		}
	}
	// A capacity is compared as the program reads it.
	text := strings.Replace(first, "name: delete-collection-workers\n    value: \"16\"", "name: delete-collection-workers\n    value: \"0x20\"", 1)
	if again, _ := merge(t, text, p); again != text {
		t.Error("0x20 gave way to 16")
	}
}
