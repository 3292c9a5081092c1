//go:build rig

package rig_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/cluster"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/scrape"
)

// existing is a control plane with a node, as a cluster that was there before.
type existing struct {
	*rig.Rig
	ladder *recipe.Ladder
}

func existingCluster(t *testing.T) existing {
	t.Helper()
	set, err := binaries.Find("", "", "kwok")
	if err != nil {
		t.Fatal(err)
	}
	ladder, findings, err := recipe.Load(recipe.Options{})
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	r := start(t, rig.Options{Files: sharding(t, render(t, "one.cue"))})
	startKubelet(t, client(t, r, ""), r.Config(""), set.Path("kwok"))
	return existing{r, ladder}
}

func (e existing) options(t *testing.T, id string) cluster.Options {
	t.Helper()
	rung, ok := e.ladder.Rung(id)
	if !ok {
		t.Fatalf("%s is not on the ladder", id)
	}
	return cluster.Options{Config: e.Config(""), Ladder: e.ladder, Rung: rung, Image: "seams-load:test", Version: "test", Today: time.Now(), Log: t.Output()}
}

func (e existing) prove(t *testing.T, o cluster.Options) *prove.Record {
	t.Helper()
	plan, err := cluster.Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + plan.Text())
	record, err := plan.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range record.Limits {
		t.Logf("%s %s %g: measured %s, compared %s, pass %t %s", l.Metric, l.Op, l.Value, text(l.Measured), text(l.Compared), l.Pass, l.Problem)
	}
	for _, remark := range record.Remarks {
		t.Log(remark)
	}
	if !strings.HasPrefix(record.Machine.Description, "existing cluster of 1 node") || record.Versions["kube-apiserver"] == "" {
		t.Errorf("machine %+v, versions %v", record.Machine, record.Versions)
	}
	e.clean(t)
	return record
}

// ours are the resources that a run makes something of.
var ours = []schema.GroupVersionResource{
	{Version: "v1", Resource: "namespaces"}, {Version: "v1", Resource: "nodes"}, {Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "serviceaccounts"}, {Group: "batch", Version: "v1", Resource: "jobs"}, {Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
}

// clean says that nothing of a run is left, by its label and by its names.
func (e existing) clean(t *testing.T) {
	t.Helper()
	api, err := dynamic.NewForConfig(e.Config(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range ours {
		all, err := api.Resource(r).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all.Items {
			if _, labelled := o.GetLabels()[cluster.RunLabel]; labelled {
				t.Errorf("%s %s/%s is left", r.Resource, o.GetNamespace(), o.GetName())
			}
		}
	}
	if _, err := api.Resource(ours[1]).Get(context.Background(), "worker-1", metav1.GetOptions{}); err != nil {
		t.Errorf("the cluster's own node: %v", err)
	}
}

func value(t *testing.T, r *prove.Record, name string) float64 {
	t.Helper()
	f, ok := scrape.Find(r.Levels[0].Figures, name)
	if !ok {
		t.Fatalf("no figure %s", name)
	}
	return f.Value
}

// TestExistingCluster drives loads of every kind in a cluster that was there
// before, by the Pods of a Job, from plan to record, and looks at what is left.
func TestExistingCluster(t *testing.T) {
	e := existingCluster(t)
	t.Run("churn", e.churn)
	t.Run("kwok", e.kwok)
	t.Run("kinds", e.kinds)
	t.Run("refused", e.refused)
	t.Run("interrupted", e.interrupted)
}

// Three parts make the load that one would, and everything the limits ask is
// seen, so that there is a verdict.
func (e existing) churn(t *testing.T) {
	o := e.options(t, "churn/stock")
	o.Scale, o.Seconds, o.Jobs = 0.5, 15, 3
	r := e.prove(t, o)
	if r.Undecided || r.Load.WritesPerSecond != 100 {
		t.Errorf("undecided %t, load %+v", r.Undecided, r.Load)
	}
	if due := value(t, r, "writes-due"); due < 1480 || due > 1520 {
		t.Errorf("%g writes were due in 15 s at 100 a second", due)
	}
	if rate := value(t, r, "apiserver.main.writes-per-second"); rate < 80 || rate > 140 {
		t.Errorf("the apiserver saw %g writes a second of 100, and 6 of the probe", rate)
	}
	if value(t, r, "writes-failed") != 0 || value(t, r, "core-calls-failed") != 0 {
		t.Error("calls failed")
	}
}

// kwok renews the nodes' Leases; the etcd is not seen, so there is no verdict.
func (e existing) kwok(t *testing.T) {
	o := e.options(t, "node/leases-store")
	o.Scale, o.Seconds, o.Jobs = 0.1, 25, 2
	r := e.prove(t, o)
	if !r.Undecided || r.Pass || r.Load.NodesBy != load.Kwok {
		t.Errorf("undecided %t, pass %t, by %s", r.Undecided, r.Pass, r.Load.NodesBy)
	}
	if value(t, r, "nodes") != 100 || value(t, r, "nodes-ready-ratio") != 1 {
		t.Error("the nodes are not there, or not Ready")
	}
	if rate := value(t, r, "lease-renewals-per-second"); rate < 7 || rate > 13 {
		t.Errorf("100 nodes renewed %g times a second", rate)
	}
	for _, l := range r.Limits {
		if l.Metric == "store.main.puts-per-second" && (l.Pass || !strings.HasPrefix(l.Problem, "not seen")) {
			t.Errorf("%s: pass %t, %q", l.Metric, l.Pass, l.Problem)
		}
	}
}

// Every kind of load has the rights that it needs, and no call fails.
func (e existing) kinds(t *testing.T) {
	etcd := e.Process("etcd@cp-1").MetricsURL
	for _, c := range []struct {
		rung   string
		scale  float64
		by     load.Renewer
		figure string
		want   float64
	}{
		{"node/stock", 0.05, load.Own, "nodes-ready-ratio", 1},
		{"churn/events-store", 0.1, "", "events-failed", 0},
		{"churn/leases-store", 0.05, "", "two-leaders", 0},
		{"state/cold-uncached", 0.02, "", "driver-none", 0},
		{"state/client-shards", 0.1, "", "shard-missing-objects", 0},
	} {
		t.Run(strings.ReplaceAll(c.rung, "/", "-"), func(t *testing.T) {
			o := e.options(t, c.rung)
			o.Scale, o.Seconds, o.Jobs, o.NodesBy = c.scale, 6, 2, c.by
			o.Metrics = map[string]string{"store.main": etcd}
			r := e.prove(t, o)
			if v, ok := scrape.Find(r.Levels[0].Figures, c.figure); ok && v.Value != c.want {
				t.Errorf("%s is %g, want %g", c.figure, v.Value, c.want)
			}
			for _, remark := range r.Remarks {
				if strings.Contains(remark, "failed") {
					t.Error(remark)
				}
			}
			if v := value(t, r, "store.main.puts-per-second"); v <= 0 {
				t.Errorf("%g puts a second", v)
			}
		})
	}
}

// What is there already is named, and left alone.
func (e existing) refused(t *testing.T) {
	api := client(t, e.Rig, "")
	n, err := api.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Namespace}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = api.CoreV1().Namespaces().Delete(context.Background(), n.Name, metav1.DeleteOptions{}) }()
	_, err = cluster.Make(t.Context(), e.options(t, "churn/stock"))
	if err == nil || !strings.Contains(err.Error(), "Namespace "+cluster.Namespace) {
		t.Errorf("%v", err)
	}
	if err := cluster.CleanUp(t.Context(), e.Config("")); err != nil {
		t.Error(err)
	}
	if left, err := api.CoreV1().Namespaces().Get(t.Context(), n.Name, metav1.GetOptions{}); err != nil || left.DeletionTimestamp != nil {
		t.Errorf("a namespace without the label was removed: %v", err)
	}
}

// A run that is interrupted removes what it made.
func (e existing) interrupted(t *testing.T) {
	eventually(t, "the namespace of another is gone", time.Minute, func() error {
		_, err := cluster.Make(t.Context(), e.options(t, "churn/stock"))
		return err
	})
	o := e.options(t, "churn/stock")
	o.Scale, o.Seconds, o.Jobs = 0.2, 120, 2
	plan, err := cluster.Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithTimeout(t.Context(), 15*time.Second)
	defer interrupt()
	began := time.Now()
	if _, err := plan.Run(ctx); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 100*time.Second {
		t.Errorf("it took %s to end", took)
	}
	e.clean(t)
}

// TestKwokNodes runs a proof whose nodes are renewed by a kwok process.
func TestKwokNodes(t *testing.T) {
	ladder, findings, err := recipe.Load(recipe.Options{})
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	rung, _ := ladder.Rung("node/leases-store")
	set, err := binaries.Find("", "", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
	if err != nil {
		t.Fatal(err)
	}
	r, err := prove.Run(t.Context(), prove.Options{
		Ladder: ladder, Rung: rung, Kubernetes: set.Kubernetes, Bin: set, Scale: 0.3, Seconds: 30, NodesBy: load.Kwok,
		Dir: t.TempDir(), Version: "test", Today: time.Now(), Log: t.Output(),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range r.Levels {
		ready, _ := scrape.Find(level.Figures, "nodes-ready-ratio")
		rate, _ := scrape.Find(level.Figures, "lease-renewals-per-second")
		gap, _ := scrape.Find(level.Figures, "lease-gap-max-seconds")
		t.Logf("%s: %g Ready, %g renewals a second, longest gap %g s", level.Name, ready.Value, rate.Value, gap.Value)
		if ready.Value != 1 || rate.Value < 24 || rate.Value > 36 {
			t.Errorf("%s: 300 nodes, %g of them Ready, renew %g times a second", level.Name, ready.Value, rate.Value)
		}
	}
	for _, l := range r.Limits {
		if l.Metric == "store.main.puts-per-second" && !l.Pass {
			t.Errorf("%s: compared %s", l.Metric, text(l.Compared))
		}
	}
}
