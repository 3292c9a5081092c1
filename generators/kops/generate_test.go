package kops_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/generators/kops"
	check "github.com/kubeseams/seams/internal/check/kops"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/golden"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// kopsTarget is the last Kubernetes that a kOps minor installs, on a cloud.
func kopsTarget(t testing.TB, version, cloud string) target.Target {
	t.Helper()
	v, err := target.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return target.Target{Kubernetes: plantest.Version(v.Minor), Platform: target.Kops, Kops: v, Cloud: cloud}
}

type planCase struct {
	name string
	plan *plan.Plan
}

// cases are the plans that are kept as golden files: a stock control plane, one
// with shards, one of 100,000 nodes with more apiservers, on each kOps minor.
func cases(t testing.TB) []planCase {
	t.Helper()
	var list []planCase
	for _, version := range []string{"1.34.3", "1.35.2", "1.36.2"} {
		minor := strings.ReplaceAll(version[:4], ".", "-")
		sharded := plantest.EventsLeases(kopsTarget(t, version, "gce"), 3)
		sharded.Tiers[0].Flags["delete-collection-workers"] = "16"
		sharded.Tiers[0].Flags["goaway-chance"] = "0.001"
		sharded.Tiers[0].Flags["lease-reuse-duration-seconds"] = "60"
		wide := plantest.NodeTier(kopsTarget(t, version, "aws"))
		wide.Name = "wide.example.com"
		wide.ControlPlane.CPU, wide.ControlPlane.MemoryGiB = 96, 384
		wide.ControlPlane.Network.PodCIDR, wide.ControlPlane.Network.ServiceCIDR = "10.0.0.0/8", "192.168.0.0/16"
		wide.ControlPlane.Network.NodeMaskSize = 25
		wide.Tiers[1].Flags, wide.Tiers[1].Env, wide.Tiers[1].Uncached = wide.Tiers[0].Flags, wide.Tiers[0].Env, nil
		list = append(list,
			planCase{"stock-" + minor, plantest.Stock(kopsTarget(t, version, "aws"), 1)},
			planCase{"ha-" + minor, plantest.Stock(kopsTarget(t, version, "hetzner"), 3)},
			planCase{"events-leases-" + minor, sharded},
			planCase{"nodes-100k-" + minor, wide},
		)
	}
	return list
}

func render(t testing.TB, p *plan.Plan) ([]file.File, []finding.Finding) {
	t.Helper()
	files, fs, err := kops.Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	return files, fs
}

func lines(fs []finding.Finding) []byte {
	var b strings.Builder
	for _, f := range fs {
		fmt.Fprintln(&b, f)
	}
	return []byte(b.String())
}

func TestGolden(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			files, fs := render(t, c.plan)
			files = append(files, file.File{Path: "findings.txt", Data: lines(fs)})
			golden.Dir(t, filepath.Join("testdata", c.name), files)
		})
	}
}

// TestGeneratedDocumentsPassTheCheck has kOps' schema and rules judge what is
// generated for every minor and cloud.
func TestGeneratedDocumentsPassTheCheck(t *testing.T) {
	judge := func(name string, p *plan.Plan) {
		files, _ := render(t, p)
		for _, f := range check.Check(check.Input{Files: files, Target: p.Target, FeatureFlags: "+APIServerNodes"}) {
			t.Errorf("%s: %v", name, f)
		}
	}
	for _, c := range cases(t) {
		judge(c.name, c.plan)
	}
	for _, cloud := range []string{"aws", "azure", "digitalocean", "gce", "hetzner", "openstack", "scaleway"} {
		for _, version := range []string{"1.34.3", "1.35.2", "1.36.2"} {
			for _, dnsNone := range []bool{false, true} {
				for _, c := range plantest.Cases(target.Kops, 34) {
					c.Plan.Target = kopsTarget(t, version, cloud)
					c.Plan.Target.DNSNone = dnsNone
					judge(fmt.Sprint(c.Name, " ", cloud, " ", version, " ", dnsNone), c.Plan)
				}
			}
		}
	}
}

// TestFields holds the tables of fields against kOps' schemas: a field is there
// in a minor exactly when its predicate says so.
func TestFieldsAreKopsOwn(t *testing.T) {
	flags := map[string]string{}
	for _, f := range kops.Fields() {
		for _, version := range []string{"1.34.3", "1.35.2", "1.36.2"} {
			tt := kopsTarget(t, version, "aws")
			typ, ok := check.FieldType(tt.Kops, "Cluster", "spec."+f.Block+"."+f.Name)
			if ok != f.In(tt) {
				t.Errorf("kOps %s: %s.%s is there: %v, and we say %v", version, f.Block, f.Name, ok, f.In(tt))
			}
			if ok && !slices.Contains(f.Types, typ) {
				t.Errorf("kOps %s: %s.%s is of type %s, and we write %v", version, f.Block, f.Name, typ, f.Types)
			}
		}
		flags[f.Block+" "+f.Flag] = f.Name
	}
	if len(flags) < 50 {
		t.Errorf("only %d fields were compared", len(flags))
	}
}

func TestGenerateFindings(t *testing.T) {
	base := func(version, cloud string) *plan.Plan { return plantest.EventsLeases(kopsTarget(t, version, cloud), 3) }
	change := func(p *plan.Plan, f func(*plan.Plan)) *plan.Plan { f(p); return p }
	tests := []struct {
		name string
		plan *plan.Plan
		code string
		text string
	}{
		{"leases before 1.36", base("1.35.2", "aws"), "kops-leases-before-1.36", "1.36"},
		{"compaction before 1.36", base("1.35.2", "aws"), "kops-no-field", "--etcd-compaction-interval"},
		{"kubelet before 1.36", base("1.35.2", "aws"), "kops-no-field", "kubeAPIQPS"},
		{"kubelet burst", base("1.36.2", "aws"), "kops-no-field", "kubeAPIBurst"},
		{"flag without a field", change(base("1.36.2", "aws"), func(p *plan.Plan) { p.Tiers[0].Flags["lease-reuse-duration-seconds"] = "60" }), "kops-no-field", "--lease-reuse-duration-seconds"},
		{"controller manager's environment", change(base("1.36.2", "aws"), func(p *plan.Plan) { p.ControllerManager.Env = map[string]string{"GOGC": "50"} }), "kops-no-field", "GOGC"},
		{"zero", change(base("1.36.2", "aws"), func(p *plan.Plan) { p.Tiers[0].Flags["max-mutating-requests-inflight"] = "0" }), "kops-zero-not-passed", "=0"},
		{"no number", change(base("1.36.2", "aws"), func(p *plan.Plan) { p.Tiers[0].Flags["max-requests-inflight"] = "many" }), "kops-flag-value", "many"},
		{"tier that differs", plantest.NodeTier(kopsTarget(t, "1.36.2", "aws")), "kops-no-tiers", "nodes"},
		{"apiservers on gce 1.35", change(base("1.35.2", "gce"), func(p *plan.Plan) { p.Tiers[0].Replicas = 5 }), "kops-apiserver-role", "gce"},
		{"apiservers without DNS", change(base("1.36.2", "aws"), func(p *plan.Plan) { p.Tiers[0].Replicas, p.Target.DNSNone = 5, true }), "kops-apiserver-role", "dns.type None"},
		{"apiservers", change(base("1.36.2", "gce"), func(p *plan.Plan) { p.Tiers[0].Replicas = 5 }), "kops-feature-flags", ""},
		{"two hosts", plantest.Stock(kopsTarget(t, "1.36.2", "aws"), 2), "kops-etcd-even", "2"},
		{"store of another name", change(base("1.36.2", "aws"), func(p *plan.Plan) { p.Stores[1].Name = "pods" }), "kops-store-name", "pods"},
		{"route of another resource", change(base("1.36.2", "aws"), func(p *plan.Plan) { p.Routes[0].Resource = "pods" }), "kops-route", "/pods"},
		{"controller groups", plantest.Split(kopsTarget(t, "1.36.2", "aws")), "kops-one-controller-manager", ""},
		{"aggregated tier", change(base("1.36.2", "aws"), func(p *plan.Plan) {
			p.Stores = append(p.Stores, plan.Store{Name: "hot", Durability: "durable", Members: []string{"a"}})
			p.Aggregated = []plan.AggregatedTier{{Name: "hot", Store: "hot", Form: plan.WorkloadForm, Server: target.APIExtensionsServer, Namespace: "seams-system", Service: "hot", Port: 9443, Replicas: 2}}
		}), "kops-aggregated-beside", ""},
	}
	for _, test := range tests {
		_, fs := render(t, test.plan)
		if !slices.ContainsFunc(fs, func(f finding.Finding) bool {
			return f.Code == test.code && strings.Contains(f.Message+f.Fix, test.text)
		}) {
			t.Errorf("%s: no %s with %q among\n%s", test.name, test.code, test.text, lines(fs))
		}
	}
	if _, _, err := kops.Generate(plantest.Stock(kopsTarget(t, "1.36.2", "moon"), 1)); err == nil {
		t.Error("a cloud that kOps does not have is accepted")
	}
}

// TestQuota is the report of kops#4005: the etcd that is named gets its quota.
func TestQuota(t *testing.T) {
	files, _ := render(t, plantest.Stock(kopsTarget(t, "1.36.2", "aws"), 1))
	const want = "    manager:\n      env:\n      - name: ETCD_QUOTA_BACKEND_BYTES\n        value: \"8589934592\"\n    name: main\n"
	if !strings.Contains(string(files[0].Data), want) {
		t.Errorf("want\n%sin\n%s", want, files[0].Data)
	}
}

// TestGenerateIsMergeOfItself: the two ways to the same fields agree.
func TestGenerateIsMergeOfItself(t *testing.T) {
	for _, c := range cases(t) {
		files, _ := render(t, c.plan)
		merged, additional, fs, err := kops.Merge(files[0].Data, c.plan)
		if err != nil {
			t.Fatal(err)
		}
		if string(merged) != string(files[0].Data) || len(additional) > 0 {
			t.Errorf("%s: merging into what was generated changes\n%s", c.name, lines(fs))
		}
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	for _, c := range cases(t) {
		first, findings := render(t, c.plan)
		for range 5 {
			again, findingsAgain := render(t, c.plan)
			if fmt.Sprint(first, findings) != fmt.Sprint(again, findingsAgain) {
				t.Fatalf("%s: two runs differ", c.name)
			}
		}
	}
}

func BenchmarkGenerateAndCheck(b *testing.B) {
	for _, c := range cases(b) {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				files, _ := render(b, c.plan)
				check.Check(check.Input{Files: files, Target: c.plan.Target})
			}
		})
	}
}
