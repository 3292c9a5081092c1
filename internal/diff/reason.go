package diff

import (
	"path"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/yamltext"
)

// The seams, as rungs name them.
const (
	storage        = "storage"
	nodeLiveness   = "node-liveness"
	shardAxis      = "shard-axis"
	cacheResidency = "cache-residency"
)

// asker knows which rung asks for what.
type asker struct {
	plan  *plan.Plan
	rungs []recipe.Rung
}

func newAsker(r *recipe.Recipe, p *plan.Plan) *asker {
	a := &asker{plan: p}
	for _, c := range r.Choices {
		a.rungs = append(a.rungs, c.Rung)
	}
	a.rungs = append(a.rungs, r.With...)
	return a
}

// want is a place in the settings that rungs move, such as apiserver.flags.NAME.
type want []string

// ask gives the rungs that move any of the places, each with those of the seams
// that it says it is about, or else the field of the profile, where there is one.
func (a *asker) ask(seams []string, profile string, wants ...want) []Reason {
	var reasons []Reason
	for _, r := range a.rungs {
		if slices.ContainsFunc(wants, func(w want) bool { return moved(r.Moves, w) != nil }) {
			own := slices.DeleteFunc(slices.Clone(seams), func(s string) bool { return !slices.Contains(r.Seams, s) })
			reasons = append(reasons, Reason{Rung: r.ID, Seams: own})
		}
	}
	if len(reasons) == 0 && profile != "" {
		reasons = append(reasons, Reason{Profile: profile})
	}
	return reasons
}

// moved is what a rung's moves have at a place; nil for nothing.
func moved(moves map[string]any, w want) any {
	var value any = moves
	for _, step := range w {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[step]
	}
	return value
}

// components are the programs' names among the settings.
var components = map[string]string{"kube-apiserver": "apiserver", "kube-controller-manager": "controllerManager", "kube-scheduler": "scheduler"}

// profileFlags are the flags that a profile can ask for by itself.
var profileFlags = map[string]string{
	"event-ttl":                 "churn.events.ttlSeconds",
	"node-monitor-grace-period": "nodes.monitorGraceSeconds",
	"node-cidr-mask-size":       "controlPlane.network.nodeMaskSize",
}

// flag is who asks for a flag of a program, or for one entry of it.
func (a *asker) flag(program, name, entry string) []Reason {
	component := components[program]
	switch name {
	case "etcd-servers-overrides":
		return a.ask(storeSeams(entry), "", want{"routes", entry})
	case "watch-cache-sizes":
		return a.ask([]string{cacheResidency}, "", want{component, "flags", name}, want{"coldCache"}, want{"consumerTiers"}, want{"nodeTier"})
	case "feature-gates":
		var seams []string
		if entry == "ShardedListAndWatch" {
			seams = []string{shardAxis}
		}
		return a.ask(seams, "", want{component, "featureGates", entry})
	case "etcd-compaction-interval":
		return a.ask([]string{storage}, "", want{"main", "compactionSeconds"})
	case "quota-backend-bytes":
		return a.quota("main")
	case "controllers":
		return a.ask([]string{shardAxis}, "", want{"sharding", "splitControllers"}, want{component, "flags", name})
	case "config":
		return a.ask(nil, "", want{"scheduler", "qps"}, want{"scheduler", "burst"})
	}
	var seams []string
	if strings.HasPrefix(name, "node-monitor-") {
		seams = []string{nodeLiveness}
	}
	return a.ask(seams, profileFlags[name], want{component, "flags", name})
}

// storeSeams are those of a store, or of a route to one.
func storeSeams(name string) []string {
	if strings.HasSuffix(name, "leases") {
		return []string{storage, nodeLiveness}
	}
	return []string{storage}
}

// quota is who asks for a store's quota: main's is the profile's where that is larger.
func (a *asker) quota(store string) []Reason {
	if store != "main" {
		return a.store(store)
	}
	main, _ := a.plan.Store("main")
	var reasons []Reason
	for _, r := range a.ask([]string{storage}, "", want{"main", "quotaGiB"}) {
		i := slices.IndexFunc(a.rungs, func(rung recipe.Rung) bool { return rung.ID == r.Rung })
		if gib, ok := yamltext.Number(moved(a.rungs[i].Moves, want{"main", "quotaGiB"})); ok && int64(gib*(1<<30)) == main.QuotaBytes {
			reasons = append(reasons, r)
		}
	}
	if len(reasons) == 0 {
		reasons = append(reasons, Reason{Profile: "controlPlane.etcdQuotaGiB"})
	}
	return reasons
}

// store is who asks for a store besides main.
func (a *asker) store(name string) []Reason {
	if slices.ContainsFunc(a.plan.Aggregated, func(t plan.AggregatedTier) bool { return t.Store == name }) {
		return a.aggregated()
	}
	return a.ask(storeSeams(name), "", want{"stores", name})
}

func (a *asker) aggregated() []Reason { return a.ask([]string{storage}, "", want{"aggregated"}) }

// stores is who asks for the stores that probes leave out.
func (a *asker) stores() []Reason {
	var wants []want
	for _, s := range a.plan.Stores {
		if s.Name != "main" && !s.ServesLiveness {
			wants = append(wants, want{"stores", s.Name})
		}
	}
	return a.ask([]string{storage}, "", wants...)
}

// kubeletFields are the settings of a kubelet's fields; kOps calls one otherwise.
var kubeletFields = map[string]struct {
	setting, profile string
	liveness         bool
}{
	"nodeLeaseDurationSeconds":  {"nodeLeaseDurationSeconds", "nodes.leaseDurationSeconds", true},
	"nodeStatusUpdateFrequency": {"nodeStatusUpdateSeconds", "nodes.statusUpdateSeconds", true},
	"nodeStatusReportFrequency": {"nodeStatusReportSeconds", "nodes.statusReportSeconds", true},
	"kubeAPIQPS":                {setting: "kubeAPIQPS"},
	"kubeAPIBurst":              {setting: "kubeAPIBurst"},
	"eventRecordQPS":            {setting: "eventRecordQPS"},
	"eventQPS":                  {setting: "eventRecordQPS"},
	"eventBurst":                {setting: "eventBurst"},
	"maxPods":                   {setting: "maxPods"},
}

func (a *asker) kubelet(field string) []Reason {
	f := kubeletFields[field]
	var seams []string
	if f.liveness {
		seams = []string{nodeLiveness}
	}
	return a.ask(seams, f.profile, want{"kubelet", f.setting})
}

// sections are the programs of a ClusterConfiguration.
var sections = map[string]string{"apiServer": "kube-apiserver", "controllerManager": "kube-controller-manager", "scheduler": "kube-scheduler", "etcd": "etcd"}

var bracketed = pattern.Of(`\[([^\]]*)\]`)

// cluster is who asks for a change of a ClusterConfiguration.
func (a *asker) cluster(c Change) []Reason {
	section, rest, _ := strings.Cut(c.Path, ".")
	return a.program(sections[section], rest, c)
}

// program is who asks for a change of a program's flags or surroundings.
func (a *asker) program(program, rest string, c Change) []Reason {
	switch name, _ := split(rest); {
	case c.Flag != "":
		return a.flag(program, strings.TrimPrefix(c.Flag, "--"), c.Entry)
	case strings.Contains(rest, "nv[") || strings.Contains(rest, "nvs["):
		return a.ask(nil, "", want{components[program], "env", last(c.Path)})
	case name == "certSANs":
		return a.ask([]string{nodeLiveness}, "controlPlane.nodeEndpoint", want{"nodeTier"})
	case strings.Contains(rest, "olume"):
		return a.ask(nil, "", want{"scheduler", "qps"}, want{"scheduler", "burst"})
	case strings.Contains(rest, "Probe"):
		return a.stores()
	}
	return nil
}

// split cuts a path after its first name.
func split(p string) (name, rest string) {
	if i := strings.IndexAny(p, ".["); i >= 0 {
		return p[:i], p[i:]
	}
	return p, ""
}

// last is the name in a path's last brackets.
func last(p string) string {
	all := bracketed().FindAllStringSubmatch(p, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// rendered is who asks for a file that is rendered whole.
func (a *asker) rendered(name string) []Reason {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	_, store, isStore := strings.Cut(base, "etcd-")
	_, tier, isTier := strings.Cut(base, "kube-apiserver-")
	switch {
	case strings.HasPrefix(name, "patches/"):
		return a.stores()
	case name == "scheduler.yaml":
		return a.ask(nil, "", want{"scheduler", "qps"}, want{"scheduler", "burst"})
	case strings.HasPrefix(name, "aggregated/") || strings.HasPrefix(base, "aggregated-"):
		return a.aggregated()
	case strings.HasPrefix(base, "kube-controller-manager-"):
		return a.ask([]string{shardAxis}, "", want{"sharding"})
	case isStore:
		return a.store(store)
	case isTier && tier == "nodes":
		return a.ask([]string{nodeLiveness}, "", want{"nodeTier"})
	case isTier:
		return a.ask([]string{cacheResidency}, "", want{"consumerTiers", tier})
	}
	return nil
}

// hazards are those of the chosen rungs, each once.
func (a *asker) hazards() []Hazard {
	list, seen := []Hazard{}, map[string]bool{}
	for _, r := range a.rungs {
		for _, h := range r.Hazards {
			if !seen[h.What] {
				seen[h.What] = true
				list = append(list, Hazard{Rung: r.ID, What: h.What, Mitigation: h.Mitigation, Ref: h.Ref})
			}
		}
	}
	return list
}

// explain puts reasons to changes.
func explain(changes []Change, who func(Change) []Reason) []Change {
	for i := range changes {
		changes[i].Reasons = who(changes[i])
		if changes[i].Reasons == nil {
			changes[i].Reasons = []Reason{}
		}
	}
	return changes
}
