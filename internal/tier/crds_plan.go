package tier

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubeseams/seams/internal/finding"
)

// crdsSeen is what was found of the groups that definitions are of.
type crdsSeen struct {
	// tier and main have the definitions of the groups in the two servers, by name.
	tier, main map[string]*CRD
	// services are the APIServices by group and version.
	services map[string]map[string]apiService
	// objects names the definitions of main that have objects there.
	objects map[string]bool
}

// verb is what an action does.
type verb string

// The verbs in the order in which a group's are done: a version leads to the
// tier only once it is served there, since an APIService that is not available
// stops garbage collection and the deletion of namespaces in the whole cluster;
// and it does so before the definition is in the main server, which would put
// the automatic APIService back.
const (
	defineInTier verb = "define in the tier"
	pointToTier  verb = "lead to the tier"
	defineInMain verb = "define in the main server"
	dropService  verb = "lead nowhere"
)

// action is one step of a plan of definitions.
type action struct {
	verb           verb
	crd            *CRD // of the two that define
	group, version string
	// note says what is special.
	note string
}

func (a action) String() string {
	name := a.version + "." + a.group
	if a.crd != nil {
		name = a.crd.Name
	}
	text := fmt.Sprintf("%s: %s", name, a.verb)
	if a.note != "" {
		text += " (" + a.note + ")"
	}
	return text
}

// planCRDs says what to do for the wanted definitions, or why not. With keep,
// the main server gets the definitions, too; those that it has follow always.
func planCRDs(t Target, wanted []Definition, seen crdsSeen, keep bool) ([]action, []finding.Finding) {
	var actions []action
	var findings []finding.Finding
	for _, group := range groupsOf(wanted) {
		p := groupPlan{target: t, group: group, seen: seen, keep: keep}
		for _, d := range wanted {
			if d.Spec.Group == group {
				p.wanted = append(p.wanted, d)
			}
		}
		p.judge()
		p.plan()
		actions, findings = append(actions, p.actions...), append(findings, p.findings...)
	}
	return actions, findings
}

func groupsOf(all []Definition) []string {
	set := map[string]bool{}
	for _, d := range all {
		set[d.Spec.Group] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// groupPlan plans one group: what leads to a tier is a group's version, with all
// kinds in it.
type groupPlan struct {
	target   Target
	group    string
	wanted   []Definition
	seen     crdsSeen
	keep     bool
	actions  []action
	findings []finding.Finding
}

func (p *groupPlan) say(d Definition, f finding.Finding) { p.findings = append(p.findings, d.at(f)) }

func (p *groupPlan) judge() {
	for _, version := range slices.Sorted(maps.Keys(p.seen.services[p.group])) {
		p.judgeService(p.seen.services[p.group][version])
	}
	for _, name := range slices.Sorted(maps.Keys(p.seen.main)) {
		p.judgeMain(p.seen.main[name])
	}
	for _, d := range p.wanted {
		if have := p.seen.tier[d.Name]; have != nil {
			p.judgeUpdate(d, have)
		}
	}
}

func (p *groupPlan) judgeService(a apiService) {
	switch {
	case a.builtIn():
		p.say(p.wanted[0], finding.Finding{
			Code: "tier-group-builtin", Severity: finding.Error, Path: "spec.group",
			Message: fmt.Sprintf("%s is a group of kube-apiserver itself", p.group),
		})
	case !a.local() && !a.of(p.target):
		p.say(p.wanted[0], finding.Finding{
			Code: "tier-group-elsewhere", Severity: finding.Error, Path: "spec.group",
			Message: fmt.Sprintf("APIService %s leads to %s/%s", a.Name, a.Spec.Service.Namespace, a.Spec.Service.Name),
			Fix:     "name that tier, or move the group back to main first",
		})
	}
}

// judgeMain looks at a definition in the main server, which nothing leads to
// once its group's versions lead to the tier.
func (p *groupPlan) judgeMain(crd *CRD) {
	if crd.Spec.Group != p.group {
		return
	}
	if p.seen.objects[crd.Name] {
		p.say(p.named(crd.Name), finding.Finding{
			Code: "tier-has-objects", Severity: finding.Error, Path: "metadata.name",
			Message: fmt.Sprintf("the main server has objects of %s, which nobody would see any more", crd.Name),
			Fix:     fmt.Sprintf("seams tier move %s --to tier takes them along", p.group),
		})
	}
	if p.seen.tier[crd.Name] == nil && !slices.ContainsFunc(p.wanted, func(d Definition) bool { return d.Name == crd.Name }) {
		p.say(p.wanted[0], finding.Finding{
			Code: "tier-group-split", Severity: finding.Error, Path: "spec.group",
			Message: fmt.Sprintf("%s is of the same group, is in the main server, and would be served by nobody: a group is in one place", crd.Name),
			Fix:     "give its file, too",
		})
	}
}

// named is the wanted definition of a name, or the first one.
func (p *groupPlan) named(name string) Definition {
	for _, d := range p.wanted {
		if d.Name == name {
			return d
		}
	}
	return p.wanted[0]
}

// judgeUpdate finds changes that would cut objects off from their definition.
func (p *groupPlan) judgeUpdate(d Definition, have *CRD) {
	if d.Spec.Scope != have.Spec.Scope {
		p.say(d, finding.Finding{
			Code: "tier-scope-changed", Severity: finding.Error, Path: "spec.scope",
			Message: fmt.Sprintf("%s is %s in the tier, and objects are stored by their scope", d.Name, have.Spec.Scope),
			Fix:     "keep the scope; a new kind can have another",
		})
	}
	if d.Spec.Names.Kind != have.Spec.Names.Kind {
		p.say(d, finding.Finding{
			Code: "tier-kind-changed", Severity: finding.Error, Path: "spec.names.kind",
			Message: fmt.Sprintf("%s has the kind %s in the tier, which stands in its objects", d.Name, have.Spec.Names.Kind),
			Fix:     "keep the kind",
		})
	}
	for _, stored := range have.Status.StoredVersions {
		if !hasVersion(d.CRD, stored) {
			p.say(d, finding.Finding{
				Code: "tier-stored-version-dropped", Severity: finding.Error, Path: "spec.versions",
				Message: fmt.Sprintf("objects of %s may be stored as %s, which the new definition lacks: they could not be read any more", d.Name, stored),
				Fix:     fmt.Sprintf("keep %s with served: false, write all objects once, take it out of status.storedVersions, then drop it", stored),
			})
		}
	}
	if from, to := storageVersion(have), storageVersion(d.CRD); from != to {
		p.say(d, finding.Finding{
			Code: "tier-storage-version-changed", Severity: finding.Info, Path: "spec.versions",
			Message: fmt.Sprintf("%s is stored as %s from now on; objects stay as %s until they are written", d.Name, to, from),
		})
	}
}

func hasVersion(crd *CRD, name string) bool {
	for _, v := range crd.Spec.Versions {
		if v.Name == name {
			return true
		}
	}
	return false
}

func (p *groupPlan) plan() {
	after := map[string]*CRD{}
	for name, crd := range p.seen.tier {
		if crd.Spec.Group == p.group {
			after[name] = crd
		}
	}
	for _, d := range p.wanted {
		note := ""
		if have := p.seen.tier[d.Name]; have == nil {
			note = "new"
		} else if sameSpec(have, d.CRD) {
			note = "unchanged"
		}
		after[d.Name] = d.CRD
		p.actions = append(p.actions, action{verb: defineInTier, crd: d.CRD, group: p.group, note: note})
	}
	served := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		for _, v := range servedVersions(after[name]) {
			served[v] = append(served[v], name)
		}
	}
	for _, version := range slices.Sorted(maps.Keys(served)) {
		note := ""
		if a, ok := p.seen.services[p.group][version]; ok && a.local() {
			note = "served by the main server until now"
		}
		p.actions = append(p.actions, action{verb: pointToTier, group: p.group, version: version, note: note})
	}
	for _, d := range p.wanted {
		if p.keep || p.seen.main[d.Name] != nil {
			p.actions = append(p.actions, action{verb: defineInMain, crd: d.CRD, group: p.group})
		}
	}
	for _, version := range slices.Sorted(maps.Keys(p.seen.services[p.group])) {
		if a := p.seen.services[p.group][version]; len(served[version]) == 0 && a.of(p.target) {
			p.actions = append(p.actions, action{verb: dropService, group: p.group, version: version, note: "no definition serves it any more"})
		}
	}
}
