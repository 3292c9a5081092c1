package override

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// apiServerIPInfo is the name under which kube-apiservers keep the records of
// their own endpoints; it is not an API resource but can be routed.
const apiServerIPInfo = "apiServerIPInfo"

// Judge says what is wrong with overrides that kube-apiserver of version v
// accepts: those that move nothing, and servers that it cannot reach. None of
// this is checked upstream.
func Judge(overrides []Override, v target.Version) []finding.Finding {
	var findings []finding.Finding
	first := map[string]Override{}
	for _, o := range overrides {
		if f, ok := judgeKey(o, v, overrides); ok {
			findings = append(findings, f)
		}
		findings = append(findings, judgeServers(o)...)
		if earlier, ok := first[o.Key()]; ok {
			findings = append(findings, duplicate(earlier, o))
			continue
		}
		first[o.Key()] = o
	}
	return findings
}

// noEffect makes the finding of an override that is accepted and moves nothing.
func noEffect(code string, o Override, why, fix, ref string) finding.Finding {
	return finding.Finding{
		Code: code, Severity: finding.Error,
		Message: fmt.Sprintf("%s: the override of %q is accepted and moves nothing, and its servers become part of every health check", why, o.Key()),
		Fix:     fix, Ref: ref,
	}
}

// judgeKey judges what is to be moved.
func judgeKey(o Override, v target.Version, all []Override) (finding.Finding, bool) {
	if o.Key() == "/"+apiServerIPInfo {
		return finding.Finding{
			Code: "override-endpoint-records", Severity: finding.Info,
			Message: "moves the kube-apiservers' own endpoint records (/registry/masterleases), not an API resource",
			Ref:     "pkg/controlplane/instance.go, apiServerIPInfo",
		}, true
	}
	if f, ok := judgeSpelling(o, v); ok {
		return f, true
	}
	if o.Resource == "*" {
		return judgeWildcard(o, v)
	}
	r, ok := target.LookUp(v, o.Group, o.Resource)
	if !ok {
		return judgeUnknown(o, v), true
	}
	switch r.Storage {
	case target.Alias:
		return judgeAlias(o, r, all), true
	case target.MainOnly:
		return noEffect("override-main-only", o, "this resource is always stored in --etcd-servers", "remove the override", refOwnStore), true
	case target.Unstored:
		return noEffect("override-unstored", o, "this resource is never stored", "remove the override", refBuiltIn), true
	}
	return finding.Finding{}, false
}

// judgeSpelling finds spaces, quotes and capitals, which become part of the name.
func judgeSpelling(o Override, v target.Version) (finding.Finding, bool) {
	key := o.Key()
	want := suggest(v, key)
	if want == "" {
		want = strings.ToLower(strings.Trim(strings.TrimSpace(key), `'"`+"` "))
	}
	fix := fmt.Sprintf("write %q", want+"#"+strings.Join(cleanServers(o.Servers), ";"))
	switch {
	case strings.ContainsAny(key, `'"`+"`"):
		return noEffect("override-quotes", o, "the quotes are part of the group or resource", fix, refGrammar), true
	case strings.ContainsFunc(key, isSpace):
		return noEffect("override-whitespace", o, "the space is part of the group or resource", fix, refGrammar), true
	case key != strings.ToLower(key):
		return noEffect("override-case", o, "groups and resources are lower case", fix, refGrammar), true
	}
	return finding.Finding{}, false
}

// judgeWildcard judges GROUP/*, which upstream looks up before the exact resource.
func judgeWildcard(o Override, v target.Version) (finding.Finding, bool) {
	var moved []string
	known := false
	for _, r := range target.BuiltIns(v) {
		if r.Group != o.Group {
			continue
		}
		known = true
		if r.Storage == target.Routable {
			moved = append(moved, r.Resource)
		}
	}
	switch {
	case !known:
		return judgeUnknown(o, v), true
	case len(moved) == 0:
		return noEffect("override-main-only", o, "no resource of this group can be moved", "remove the override", refOwnStore), true
	case o.Group == "":
		return finding.Finding{
			Code: "override-whole-core-group", Severity: finding.Warning,
			Message: fmt.Sprintf("moves all %d resources of the core group, pods, nodes and secrets among them", len(moved)),
			Fix:     "name the resources that are meant, such as /events", Ref: refBuiltIn,
		}, true
	}
	return finding.Finding{
		Code: "override-group-wildcard", Severity: finding.Info,
		Message: fmt.Sprintf("%q moves %s; upstream supports it without documenting it", o.Key(), strings.Join(moved, ", ")),
		Ref:     "k8s.io/apiserver pkg/server/storage/storage_factory.go, getAllResourcesAlias",
	}, true
}

// judgeUnknown judges a key that names no built-in resource.
func judgeUnknown(o Override, v target.Version) finding.Finding {
	servers := "#" + strings.Join(cleanServers(o.Servers), ";")
	want := suggest(v, o.Key())
	fix := "remove the override"
	if want != "" {
		fix = fmt.Sprintf("write %q", want+servers)
	}
	inGroup := func(r target.Resource) bool { return r.Group == o.Group }
	switch {
	case slices.ContainsFunc(target.BuiltIns(v), inGroup):
		if minors := minorsWith(o); len(minors) > 0 {
			fix = fmt.Sprintf("remove it: the resource exists in Kubernetes %s", strings.Join(minors, ", "))
			return noEffect("override-other-version", o, "Kubernetes "+v.Line()+" has no such resource", fix, refBuiltIn)
		}
		if want != "" && !strings.HasPrefix(want, o.Group+"/") {
			return noEffect("override-wrong-group", o, "the resource is in another group", fix, refBuiltIn)
		}
		return noEffect("override-unknown-resource", o, "the group has no such resource", fix, refBuiltIn)
	case strings.Contains(o.Group, ".") && (want == "" || !builtInGroup(o.Group)):
		return noEffect("override-custom-resource", o,
			"custom resources cannot be moved by this flag, only resources compiled into kube-apiserver",
			"serve the group from an aggregated API server with an etcd of its own", refCustom)
	case isVersion(o.Group):
		return noEffect("override-version-in-key", o, fmt.Sprintf("%q is a version, not a group", o.Group), fix, refBuiltIn)
	}
	return noEffect("override-wrong-group", o, fmt.Sprintf("there is no group %q", o.Group), fix, refBuiltIn)
}

// builtInGroup reports whether a group is one that upstream reserves for itself.
func builtInGroup(group string) bool {
	return strings.HasSuffix(group, ".k8s.io") && !strings.HasSuffix(group, ".x-k8s.io")
}

func minorsWith(o Override) []string {
	var minors []string
	for _, m := range target.Minors() {
		if target.BuiltIn(m, o.Group, o.Resource) {
			minors = append(minors, m.Line())
		}
	}
	return minors
}

// judgeAlias judges an override of the name under which a resource is not stored.
func judgeAlias(o Override, r target.Resource, all []Override) finding.Finding {
	twin := slices.IndexFunc(all, func(x Override) bool { return x.Key() == r.AliasOf })
	if twin >= 0 && slices.Equal(all[twin].Servers, o.Servers) {
		return finding.Finding{
			Code: "override-alias", Severity: finding.Info,
			Message: fmt.Sprintf("the override of %q is without effect beside that of %q, under which the resource is stored", o.Key(), r.AliasOf),
			Fix:     "remove it", Ref: refCohabit,
		}
	}
	return noEffect("override-alias", o, fmt.Sprintf("the resource is stored as %q", r.AliasOf),
		fmt.Sprintf("write %q", r.AliasOf+"#"+strings.Join(cleanServers(o.Servers), ";")), refCohabit)
}

func duplicate(earlier, later Override) finding.Finding {
	f := finding.Finding{
		Code: "override-duplicate", Severity: finding.Warning,
		Message: fmt.Sprintf("%q is overridden twice with the same servers", later.Key()),
		Fix:     "remove one", Ref: "k8s.io/apiserver pkg/server/storage/storage_factory.go, SetEtcdLocation",
	}
	if !slices.Equal(earlier.Servers, later.Servers) {
		f.Severity = finding.Error
		f.Message = fmt.Sprintf("%q is overridden twice, and only the last counts: %q, not %q", later.Key(), later, earlier)
		f.Fix = "keep the one that is meant"
	}
	return f
}

// judgeServers judges the URLs, which upstream hands to the etcd client as they are.
func judgeServers(o Override) []finding.Finding {
	var findings []finding.Finding
	for _, server := range o.Servers {
		code, why := judgeServer(server)
		if code == "" {
			continue
		}
		findings = append(findings, finding.Finding{
			Code: code, Severity: finding.Error,
			Message: fmt.Sprintf("server %q of %q %s; upstream does not check it", server, o.Key(), why),
			Fix:     fmt.Sprintf("write %q", cleanServer(server)), Ref: refGrammar,
		})
	}
	return findings
}

func judgeServer(server string) (code, why string) {
	switch {
	case strings.ContainsAny(server, `'"`+"`"):
		return "override-quotes", "has a quote in it"
	case strings.ContainsFunc(server, isSpace):
		return "override-whitespace", "has a space in it"
	}
	u, err := url.Parse(server)
	switch {
	case !strings.Contains(server, "://"):
		return "override-server-scheme", "has no scheme, http:// or https://"
	case err != nil:
		return "override-server-url", "is not a URL"
	case u.Scheme == "unix" || u.Scheme == "unixs":
		return "", ""
	case u.Scheme != "http" && u.Scheme != "https":
		return "override-server-scheme", "has another scheme than http:// or https://"
	case u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return "override-server-url", "must be scheme, host and port only"
	case u.Port() == "":
		return "override-server-port", "has no port, and an etcd client does not assume 2379"
	}
	return "", ""
}

func cleanServers(servers []string) []string {
	clean := make([]string, len(servers))
	for i, s := range servers {
		clean[i] = cleanServer(s)
	}
	return clean
}

// cleanServer rewrites a server as it should have been.
func cleanServer(server string) string {
	s := strings.Map(func(r rune) rune {
		if isSpace(r) || strings.ContainsRune(`'"`+"`", r) {
			return -1
		}
		return r
	}, server)
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "https", s
	}
	if scheme != "http" && scheme != "unix" && scheme != "unixs" {
		scheme = "https"
	}
	host, _, _ := strings.Cut(rest, "/")
	if host == "" {
		host = "HOST"
	}
	if u, err := url.Parse(scheme + "://" + host); err == nil && u.Port() == "" {
		host += ":2379"
	}
	return scheme + "://" + host
}

func isSpace(r rune) bool { return r <= ' ' || r == '\u00a0' }
