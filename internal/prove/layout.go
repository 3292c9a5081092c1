package prove

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/kubeseams/seams/generators/staticpod"
	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/target"
)

// groups names the groups of custom resources that a load writes.
func (d Demand) groups() []string {
	names := make([]string, d.Groups)
	for i := range names {
		names[i] = fmt.Sprintf("g%d.prove.seams.dev", i)
	}
	return names
}

// Layout is a recipe on the load of a proof, rendered.
type Layout struct {
	// Rungs are what it came from, and Digest identifies them with their settings.
	Rungs  []string
	Digest string
	Plan   *plan.Plan
	Files  []file.File
	// Estimate is what the estimator expects of the load on this layout.
	Estimate *estimate.Estimate
}

// stockRungs pin the layout that everything is compared with.
var stockRungs = []string{"node/stock", "churn/stock", "state/stock"}

// pins are the rungs of a layout that is to prove one rung: the rung, and stock
// on the other axes, so that only the rung makes a difference.
func pins(r recipe.Rung) []string {
	ids := []string{r.ID}
	for _, id := range stockRungs {
		if r.Optional || id[:len(r.Axis)+1] != string(r.Axis)+"/" {
			ids = append(ids, id)
		}
	}
	return ids
}

// layoutOf renders a demand's profile under the given rungs as static pods, and
// has it checked like everything that is rendered. What is driven is estimated on
// it, which may be less than it is rendered for.
func layoutOf(ladder *recipe.Ladder, p profiles, rungs []string) (*Layout, error) {
	l, err := renderedOf(ladder, p.rendered, rungs)
	if err == nil {
		l.Estimate = estimate.Compute(p.driven, l.Estimate.Layout)
	}
	return l, err
}

// profiles of a demand: what its layout is rendered for, and what is driven.
type profiles struct{ rendered, driven *profile.Profile }

// profilesOf describes a demand; probed says that core calls are made beside it.
func profilesOf(ctx context.Context, d Demand, probed bool, kubernetes string) (p profiles, err error) {
	if p.driven, err = profileOf(ctx, d, probed, kubernetes); err == nil {
		p.rendered, err = profileOf(ctx, d.rendered(), probed, kubernetes)
	}
	return p, err
}

func renderedOf(ladder *recipe.Ladder, p *profile.Profile, rungs []string) (*Layout, error) {
	t, err := p.Target()
	if err != nil {
		return nil, err
	}
	r, findings, err := ladder.Select(p, t, recipe.SelectOptions{Rungs: rungs})
	if err != nil {
		return nil, err
	}
	if err := refused(findings); err != nil {
		return nil, err
	}
	l := &Layout{Digest: r.Digest, Estimate: r.Estimate}
	for _, c := range r.Choices {
		l.Rungs = append(l.Rungs, c.Rung.ID)
	}
	for _, w := range r.With {
		l.Rungs = append(l.Rungs, w.ID)
	}
	digest, err := profile.Digest(p)
	if err != nil {
		return nil, err
	}
	if l.Plan, findings, err = plan.Make(p, digest, r, t); err != nil {
		return nil, err
	}
	if err := refused(findings); err != nil {
		return nil, err
	}
	if l.Files, findings, err = staticpod.Generate(l.Plan); err != nil {
		return nil, err
	}
	findings = append(findings, check.Check(check.Input{Files: l.Files, Target: t})...)
	return l, refused(findings)
}

// refused makes an error of the first finding that is one.
func refused(findings []finding.Finding) error {
	for _, f := range findings {
		if f.Severity == finding.Error {
			return fmt.Errorf("%s", f)
		}
	}
	return nil
}

// profileOf describes a demand as the profile of a cluster with it, which the
// schema and the estimator then read like any other; probed says that core
// calls are made beside it.
func profileOf(ctx context.Context, d Demand, probed bool, kubernetes string) (*profile.Profile, error) {
	data, err := json.Marshal(map[string]any{
		"name": "proof", "kubernetes": kubernetes, "platform": map[string]any{"kind": string(target.StaticPod)},
		"nodes": nodesOf(d), "churn": churnOf(d, probed), "state": stateOf(d), "controlPlane": controlPlaneOf(d),
	})
	if err != nil {
		return nil, err
	}
	loader, err := profile.NewLoader()
	if err != nil {
		return nil, err
	}
	loaded, findings, err := loader.Load(ctx, profile.Options{Path: "-", Stdin: bytes.NewReader(data), Format: profile.JSON})
	if err == nil {
		err = refused(findings)
	}
	if err != nil || len(loaded) != 1 {
		return nil, fmt.Errorf("the proof's load makes no profile: %w", err)
	}
	return loaded[0].Profile, nil
}

// nodesOf describes hollow nodes: they run no pods and watch nothing.
func nodesOf(d Demand) map[string]any {
	return map[string]any{"count": max(d.Nodes, 1), "podChurnPerSecond": d.PodsPerSecond, "podsPerNode": 0, "watchesPerNode": 0}
}

func churnOf(d Demand, probed bool) map[string]any {
	churn, all := map[string]any{}, []any{}
	if probed {
		// A fifth of the calls each: an update, a creation and a deletion.
		each := load.ProbeCallsPerSecond / 5
		all = append(all, map[string]any{"group": "", "resource": "configmaps", "updatesPerSecond": each, "objectBytes": shardBytes},
			map[string]any{"group": "", "resource": "pods", "createsPerSecond": each, "deletesPerSecond": each, "objectBytes": shardBytes})
	}
	switch d.Kind {
	case KindCustomWrites:
		for _, group := range d.groups() {
			all = append(all, map[string]any{
				"group": group, "resource": load.Sessions(group).Plural, "objectBytes": d.ObjectBytes,
				"updatesPerSecond": d.WritesPerSecond / float64(d.Groups),
			})
		}
	case KindShards:
		group := d.groups()[0]
		all = append(all, map[string]any{
			"group": group, "resource": load.Dormants(group).Plural, "objectBytes": max(d.ObjectBytes, shardBytes),
			"updatesPerSecond": d.WritesPerSecond, "watchers": d.Shards,
		})
	case KindEvents:
		churn["events"] = map[string]any{"perSecond": d.EventsPerSecond}
	case KindLeaderElections:
		churn["leaderElections"] = d.Elections
	}
	churn["resources"] = all
	return churn
}

func stateOf(d Demand) map[string]any {
	state := map[string]any{}
	switch d.Kind {
	case KindObjects:
		var all []any
		for _, group := range d.groups() {
			all = append(all, map[string]any{
				"group": group, "resource": load.Dormants(group).Plural, "count": d.Objects / d.Groups, "bytes": d.ObjectBytes, "listers": d.Listers,
			})
		}
		if d.RBACObjects > 0 {
			all = append(all, map[string]any{
				"group": "rbac.authorization.k8s.io", "resource": "roles", "count": d.RBACObjects, "bytes": roleBytes, "listers": 0,
			})
		}
		state["resources"], state["crds"] = all, d.Groups
	case KindShards:
		group := d.groups()[0]
		state["resources"] = []any{map[string]any{
			"group": group, "resource": load.Dormants(group).Plural, "count": d.Objects, "bytes": max(d.ObjectBytes, shardBytes), "listers": d.Shards,
		}}
	}
	return state
}

// controlPlaneOf gives each apiserver a host. The addresses are of the range
// for documentation: what runs the files gives them others.
func controlPlaneOf(d Demand) map[string]any {
	var hosts []any
	for i := range d.Apiservers {
		hosts = append(hosts, map[string]any{"name": fmt.Sprintf("cp-%d", i+1), "address": fmt.Sprintf("192.0.2.%d", 11+i)})
	}
	cp := map[string]any{"hosts": hosts, "memoryGiB": 16, "cpu": 2, "etcdDisks": 16, "etcdQuotaGiB": 8}
	// Programs run as processes here, whatever their image is called.
	cp["tiers"] = map[string]any{"image": "localhost/apiextensions-apiserver:proof", "groups": tierGroupsOf(d)}
	if len(hosts) > 1 || d.Through != "" {
		cp["endpoint"] = "192.0.2.10:6443"
	}
	if d.Through != "" {
		cp["nodeEndpoint"] = "192.0.2.9:6443"
	}
	return cp
}

// tierGroupsOf are the versions of the demand's groups, for their APIServices.
func tierGroupsOf(d Demand) []any {
	all := []any{}
	for _, c := range d.Custom() {
		all = append(all, map[string]any{"group": c.Group, "versions": []string{load.CustomVersion}})
	}
	return all
}
