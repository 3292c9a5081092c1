package kops_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kops"
	check "github.com/kubeseams/seams/internal/check/kops"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/golden"
	"github.com/kubeseams/seams/internal/plan"
)

func userDocuments(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "merge", "user.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sharded is the plan that is merged: shards, flags, a gate, a kubelet setting.
func sharded(t testing.TB) *plan.Plan {
	p := plantest.EventsLeases(kopsTarget(t, "1.36.2", "aws"), 3)
	p.Tiers[0].FeatureGates = map[string]bool{"ShardedListAndWatch": true}
	p.Kubelet = plan.Kubelet{KubeAPIQPS: 100, MaxPods: 96}
	return p
}

// merge merges twice: the second time must change nothing.
func merge(t testing.TB, text string, p *plan.Plan) (string, []finding.Finding) {
	t.Helper()
	merged, additional, fs, err := kops.Merge([]byte(text), p)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(additional) > 0 {
		t.Errorf("additional objects:\n%s", additional)
	}
	again, _, _, err := kops.Merge(merged, p)
	if err != nil {
		t.Fatalf("again: %v\n%s", err, merged)
	}
	if !bytes.Equal(merged, again) {
		t.Errorf("merging again changes it:\n%s\n---\n%s", merged, again)
	}
	return string(merged), fs
}

func TestMergeGolden(t *testing.T) {
	text := userDocuments(t)
	wide := sharded(t)
	wide.Tiers[0].Replicas = 5
	for name, p := range map[string]*plan.Plan{"sharded": sharded(t), "more-apiservers": wide} {
		t.Run(name, func(t *testing.T) {
			merged, fs := merge(t, text, p)
			golden.Dir(t, filepath.Join("testdata", "merge-"+name), []file.File{
				{Path: "cluster.yaml", Data: []byte(merged)}, {Path: "findings.txt", Data: lines(fs)},
			})
			for _, f := range check.Check(check.Input{Files: []file.File{{Path: "cluster.yaml", Data: []byte(merged)}}, Target: p.Target, FeatureFlags: "+APIServerNodes"}) {
				t.Errorf("the check says: %v", f)
			}
		})
	}
}

// TestMergeKeepsEverything: what is removed from the user's text is only what
// the plan's own values replaced.
func TestMergeKeepsEverything(t *testing.T) {
	text := userDocuments(t)
	merged, _ := merge(t, text, sharded(t))
	after := strings.Split(merged, "\n")
	var gone []string
	for _, line := range strings.Split(text, "\n") {
		i := slices.Index(after, line)
		if i < 0 {
			gone = append(gone, line)
			continue
		}
		after = after[i+1:]
	}
	want := []string{"    featureGates: {}", "    maxPods: 60"}
	if !slices.Equal(gone, want) {
		t.Errorf("lines that are not there any more: %q, want %q", gone, want)
	}
}

func TestMergeNothing(t *testing.T) {
	p := plantest.Stock(kopsTarget(t, "1.36.2", "aws"), 3)
	p.Stores[0].QuotaBytes = 0
	text := userDocuments(t)
	for name, in := range map[string]string{"unix": text, "windows": strings.ReplaceAll(text, "\n", "\r\n"), "no break at the end": strings.TrimSpace(text)} {
		if merged, fs := merge(t, in, p); merged != in {
			t.Errorf("%s: changed without a reason: %s", name, lines(fs))
		}
	}
}

func TestMergeWindows(t *testing.T) {
	text := strings.ReplaceAll(userDocuments(t), "\n", "\r\n")
	p := sharded(t)
	p.Tiers[0].Replicas = 5
	merged, _ := merge(t, text, p)
	if strings.Count(merged, "\n") != strings.Count(merged, "\r\n") {
		t.Error("some lines end without a carriage return")
	}
	unix, _ := merge(t, userDocuments(t), p)
	if strings.ReplaceAll(merged, "\r\n", "\n") != unix {
		t.Error("the result differs from that with other line breaks")
	}
}

func TestMergeFindings(t *testing.T) {
	text := userDocuments(t)
	replace := func(pairs ...string) string {
		out := strings.NewReplacer(pairs...).Replace(text)
		if out == text {
			t.Fatalf("%q changes nothing", pairs)
		}
		return out
	}
	tests := []struct {
		name, text string
		plan       *plan.Plan
		code, path string
		has        string
		hasNot     string
	}{
		{name: "larger quota stays", text: text, code: "kops-quota-kept", has: `value: "21474836480"`},
		{name: "larger capacity stays", text: text, code: "kops-capacity-kept", path: "spec.kubeAPIServer.maxRequestsInflight", has: "maxRequestsInflight: 800 # was 400"},
		{name: "change is told", text: replace("maxRequestsInflight: 800", "maxRequestsInflight: 500"), code: "kops-changed", path: "spec.kubeAPIServer.maxRequestsInflight", has: "maxRequestsInflight: 640 # was 400"},
		{name: "group hides the kubelet's value", text: text, code: "kops-kubelet-hidden", path: "InstanceGroup nodes spec.kubelet.maxPods", has: "kubelet: {maxPods: 30}"},
		{name: "alias", text: replace("kubelet:\n    anonymousAuth", "kubelet: &k\n    anonymousAuth", "  kubernetesApiAccess", "  masterKubelet: *k\n  kubernetesApiAccess"),
			code: "kops-merge-refused", path: "spec.kubelet", has: "maxPods: 60"},
		{name: "own overrides get kOps' own", text: replace("    featureGates: {}\n", "    etcdServersOverrides:\n    - /pods#https://10.0.0.9:2379\n"),
			code: "kops-changed", path: "spec.kubeAPIServer.etcdServersOverrides",
			has: "    - /pods#https://10.0.0.9:2379\n    - /events#https://127.0.0.1:4002\n    - coordination.k8s.io/leases#https://127.0.0.1:4004\n"},
		{name: "another cloud", text: replace("cloudProvider: aws", "cloudProvider: gce"), code: "kops-cloud-differs", has: "volumeType: hyperdisk-balanced"},
		{name: "another version", text: replace("1.36.2", "1.35.4"), code: "kops-kubernetes-differs", has: "kubernetesVersion: 1.35.4"},
		{name: "main's volumes are taken over", text: replace("name: a\n    - encryptedVolume: true", "name: a\n      volumeType: gp3\n      volumeSize: 64\n    - encryptedVolume: true"),
			code: "kops-changed", path: "spec.etcdClusters", has: "      volumeSize: 64\n      volumeType: gp3\n    - encryptedVolume"},
		{name: "main's version is taken over", text: replace("    name: main\n", "    name: main\n    version: 3.6.12\n", "    name: events\n", "    name: events\n    version: 3.6.12\n"),
			code: "kops-changed", path: "spec.etcdClusters", has: "    name: leases\n    version: 3.6.12\n"},
		{name: "no main", text: replace("name: main", "name: cilium"), code: "kops-etcd-no-main", hasNot: "leases"},
		{name: "other number of machines", text: text, plan: plantest.EventsLeases(kopsTarget(t, "1.36.2", "aws"), 1), code: "kops-control-plane-count"},
		{name: "leases before 1.36", text: text, plan: plantest.EventsLeases(kopsTarget(t, "1.35.2", "aws"), 3), code: "kops-leases-before-1.36", hasNot: "name: leases"},
		{name: "scalar instead of a block", text: replace("  kubelet:\n    anonymousAuth: false\n    maxPods: 60\n", "  kubelet: none\n"), code: "kops-merge-refused", path: "spec.kubelet", has: "kubelet: none"},
	}
	for _, test := range tests {
		p := test.plan
		if p == nil {
			p = sharded(t)
		}
		merged, fs := merge(t, test.text, p)
		if !slices.ContainsFunc(fs, func(f finding.Finding) bool { return f.Code == test.code && (test.path == "" || f.Path == test.path) }) {
			t.Errorf("%s: no %s at %q among\n%s", test.name, test.code, test.path, lines(fs))
		}
		if !strings.Contains(merged, test.has) || test.hasNot != "" && strings.Contains(merged, test.hasNot) {
			t.Errorf("%s: want %q, and not %q in\n%s", test.name, test.has, test.hasNot, merged)
		}
	}
}

func TestMergeFails(t *testing.T) {
	text := userDocuments(t)
	second := strings.Replace(text[:strings.Index(text, "\n---\n")], "name: shop.example.com", "name: other.example.com", 1)
	for name, in := range map[string]string{
		"no Cluster":      text[strings.Index(text, "---\n")+4:],
		"two Clusters":    text + "---\n" + second,
		"key twice":       strings.Replace(text, "  channel: stable\n", "  channel: stable\n  channel: alpha\n", 1),
		"no YAML":         strings.Replace(text, "  channel: stable\n", "  channel: [\n", 1),
		"another version": strings.Replace(text, "v1alpha2", "v1alpha3", 1),
		"empty":           "",
	} {
		if merged, _, _, err := kops.Merge([]byte(in), sharded(t)); err == nil {
			t.Errorf("%s: accepted:\n%s", name, merged)
		}
	}
	p := sharded(t)
	p.Name = "other.example.com"
	merged, _ := merge(t, text+"---\n"+second, p)
	if !strings.HasPrefix(merged, text) || strings.Count(merged, "name: leases") != 1 {
		t.Error("the Cluster with the plan's name is not the one that is changed")
	}
}

// TestMergeLaws merges into the user's documents after random changes to their
// layout, which no line of the result may lose.
func TestMergeLaws(t *testing.T) {
	text := userDocuments(t)
	p := sharded(t)
	rapid.Check(t, func(rt *rapid.T) {
		var in []string
		comments := 0
		for _, line := range strings.Split(text, "\n") {
			if rapid.IntRange(0, 29).Draw(rt, "change") == 0 {
				comments++
				switch rapid.IntRange(0, 3).Draw(rt, "kind") {
				case 0:
					in = append(in, "# remark")
				case 1:
					in = append(in, strings.Repeat(" ", rapid.IntRange(0, 12).Draw(rt, "indent"))+"# remark")
				case 2:
					if !strings.HasPrefix(line, "---") {
						line += " # remark"
					} else {
						comments--
					}
				default:
					comments--
					in = append(in, "")
				}
			}
			in = append(in, line)
		}
		before := strings.Join(in, "\n")
		merged, _, _, err := kops.Merge([]byte(before), p)
		if err != nil {
			rt.Fatalf("%v\n%s", err, before)
		}
		if got := strings.Count(string(merged), "# remark"); got != comments {
			rt.Fatalf("%d remarks, after it %d:\n%s", comments, got, merged)
		}
		after := strings.Split(string(merged), "\n")
		gone := 0
		for _, line := range in {
			i := slices.Index(after, line)
			if i < 0 {
				gone++
				continue
			}
			after = after[i+1:]
		}
		if gone > 3 { // featureGates, maxRequestsInflight and maxPods
			rt.Fatalf("%d lines are not there any more:\n%s\n---\n%s", gone, before, merged)
		}
		again, _, _, err := kops.Merge(merged, p)
		if err != nil || !bytes.Equal(again, merged) {
			rt.Fatalf("again: %v\n%s", err, merged)
		}
	})
}

func FuzzMerge(f *testing.F) {
	text := userDocuments(f)
	f.Add([]byte(text))
	f.Add([]byte("apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec: {etcdClusters: [{name: main, etcdMembers: [{name: a}]}]}\n"))
	f.Add([]byte("apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec:\n  kubelet: &k {}\n  masterKubelet: *k\n---\n"))
	f.Add([]byte("kind: Cluster\napiVersion: kops/v1alpha2\n"))
	p := sharded(f)
	p.Tiers[0].Replicas = 5
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<14 {
			return
		}
		merged, _, _, err := kops.Merge(data, p)
		if err != nil {
			return
		}
		again, _, _, err := kops.Merge(merged, p)
		if err != nil || !bytes.Equal(merged, again) {
			t.Fatalf("again: %v\n%q\n%q\n%q", err, data, merged, again)
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	text, p := []byte(userDocuments(b)), sharded(b)
	for b.Loop() {
		if _, _, _, err := kops.Merge(text, p); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMergeEqualDurations: durations are written as "kops get" prints them, and
// one in other words is left as it is.
func TestMergeEqualDurations(t *testing.T) {
	p := sharded(t)
	p.Tiers[0].Flags["etcd-compaction-interval"] = "150s"
	text, _ := merge(t, userDocuments(t), p)
	if !strings.Contains(text, "compactionInterval: 2m30s\n") {
		t.Fatalf("not as kOps writes it:\n%s", text)
	}
	text = strings.Replace(text, "compactionInterval: 2m30s\n", "compactionInterval: 150s\n", 1)
	if again, fs := merge(t, text, p); again != text {
		t.Errorf("changed: %s", lines(fs))
	}
}
