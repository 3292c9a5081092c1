package override

import (
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/spelling"
	"github.com/kubeseams/seams/internal/target"
)

var versionPattern = pattern.Of(`^v\d+((alpha|beta)\d+)?$`)

func isVersion(segment string) bool { return versionPattern().MatchString(segment) }

// suggest guesses the key that was meant: without quotes, spaces, a version,
// the word core or a path in etcd, with the group that has such a resource.
// It is empty when no built-in resource comes near.
func suggest(v target.Version, key string) string {
	clean := strings.ToLower(strings.Trim(strings.TrimSpace(key), `'"`+"` "))
	segments := slices.DeleteFunc(strings.Split(clean, "/"), func(s string) bool {
		return s == "" || s == "registry" || s == "core" || s == "api" || s == "apis" || isVersion(s)
	})
	if len(segments) == 0 {
		return ""
	}
	group, resource := "", segments[len(segments)-1]
	if len(segments) > 1 {
		group = segments[len(segments)-2]
	}
	for _, name := range []string{resource, resource + "s", resource + "es"} {
		if key := canonical(v, group, name); key != "" {
			return key
		}
	}
	if near := nearest(resource, routableNames(v)); near != "" {
		return canonical(v, group, near)
	}
	return ""
}

// canonical gives the key whose override moves the resource: its own, that of
// the resource it is stored as, or that of the only group that has one.
func canonical(v target.Version, group, resource string) string {
	if r, ok := target.LookUp(v, group, resource); ok {
		return routedAs(r)
	}
	for _, r := range target.BuiltInsNamed(v, resource) {
		if key := routedAs(r); key != "" {
			return key
		}
	}
	return ""
}

func routedAs(r target.Resource) string {
	switch r.Storage {
	case target.Routable:
		return r.Key()
	case target.Alias:
		return r.AliasOf
	}
	return ""
}

func routableNames(v target.Version) []string {
	var names []string
	for _, r := range target.BuiltIns(v) {
		if r.Storage == target.Routable {
			names = append(names, r.Resource)
		}
	}
	return names
}

// nearest finds the name that is at most two edits away, or "".
func nearest(name string, among []string) string {
	best, bestDistance := "", 3
	for _, candidate := range among {
		if d := spelling.Distance(name, candidate, bestDistance); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}
