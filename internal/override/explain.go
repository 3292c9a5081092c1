package override

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/target"
)

// References of the findings.
const (
	refGrammar  = "k8s.io/apiserver pkg/server/options/etcd.go, ParseEtcdServersOverrides"
	refBuiltIn  = "pkg/server/options/etcd.go: applies only to resources compiled into the server"
	refCustom   = "https://github.com/kubernetes/kubernetes/issues/118858"
	refCohabit  = "pkg/kubeapiserver/default_storage_factory_builder.go, AddCohabitatingResources"
	refOwnStore = "pkg/controlplane/apiserver/{apiextensions,aggregator}.go, SimpleStorageFactory"
)

// refused makes the finding of a value that kube-apiserver does not accept.
func refused(code, message, fix string) finding.Finding {
	return finding.Finding{
		Code: code, Severity: finding.Error,
		Message: message + ": kube-apiserver refuses the value and exits", Fix: fix, Ref: refGrammar,
	}
}

// explain says why upstream refuses item i, by the mistake it looks like.
func explain(items []string, i int) finding.Finding {
	item := items[i]
	key, list, hasHash := strings.Cut(item, "#")
	switch {
	case !hasHash && i > 0 && looksLikeServer(item):
		return refused("override-comma-between-servers",
			fmt.Sprintf("%q is separated from the servers before it by a comma, which begins a new override", item),
			fmt.Sprintf("separate servers with a semicolon: %q", joinServers(items, i)))
	case strings.TrimSpace(item) == "":
		return refused("override-empty-item", "there is an empty override between two commas or at an end", "remove the extra comma")
	case !hasHash:
		return explainMissingHash(item)
	case strings.Contains(list, "#"):
		return refused("override-two-hashes",
			fmt.Sprintf("%q has more than one #", item),
			fmt.Sprintf("separate servers with semicolons: %q", key+"#"+strings.ReplaceAll(list, "#", ";")))
	case strings.Count(key, "/") != 1:
		return explainKey(key, list)
	}
	servers := strings.Join(nonEmpty(list), ";")
	if servers == "" {
		servers = "https://HOST:2379"
	}
	return refused("override-empty-server",
		fmt.Sprintf("%q has an empty server, from a semicolon too many or no server at all", item),
		fmt.Sprintf("write %q", key+"#"+servers))
}

func nonEmpty(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ";"), func(s string) bool { return strings.TrimSpace(s) == "" })
}

var (
	urlPattern  = pattern.Of(`^\s*[a-z]+://`)
	hostPattern = pattern.Of(`^\s*(\[[0-9a-fA-F:]+\]|[0-9A-Za-z.-]+)(:\d+)?;?\s*$`)
)

func looksLikeServer(item string) bool {
	return urlPattern().MatchString(item) || hostPattern().MatchString(item)
}

// joinServers rewrites the items so that servers after a comma belong to the
// override before them, up to the next item that is one.
func joinServers(items []string, bad int) string {
	start := bad
	for start > 0 && !strings.Contains(items[start], "#") {
		start--
	}
	joined := strings.TrimRight(items[start], "; ")
	for _, item := range items[start+1:] {
		if strings.Contains(item, "#") {
			break
		}
		joined += ";" + strings.Trim(item, "; ")
	}
	return joined
}

func explainMissingHash(item string) finding.Finding {
	fix := "write GROUP/RESOURCE#SERVER;SERVER"
	if at := strings.Index(item, "=http"); at > 0 {
		fix = fmt.Sprintf("write %q", item[:at]+"#"+item[at+1:])
	}
	return refused("override-missing-hash", fmt.Sprintf("%q has no # between resource and servers", item), fix)
}

// explainKey says what is wrong with a key that has no slash or too many. The
// suggestion comes from the newest minor's resources: the value is refused in all.
func explainKey(key, list string) finding.Finding {
	fix := "write GROUP/RESOURCE, the core group being empty: /events"
	if want := suggest(target.Version{}, key); want != "" {
		fix = fmt.Sprintf("write %q", want+"#"+list)
	}
	segments := strings.Split(strings.Trim(key, "/"), "/")
	switch {
	case segments[0] == "registry":
		return refused("override-registry-path", fmt.Sprintf("%q is a path in etcd, not group/resource", key), fix)
	case len(segments) == 1 && !strings.Contains(key, "/"):
		return refused("override-missing-slash", fmt.Sprintf("%q has no slash; a resource of the core group begins with one", key), fix)
	case slices.ContainsFunc(segments, isVersion):
		return refused("override-version-in-key", fmt.Sprintf("%q names a version; an override is for all versions of a resource", key), fix)
	}
	return refused("override-too-many-slashes", fmt.Sprintf("%q has %d slashes, want one", key, strings.Count(key, "/")), fix)
}

func csvFinding(values []string, err error) finding.Finding {
	return refused("override-csv-quotes",
		fmt.Sprintf("%q is not a line of comma-separated values (%v)", strings.Join(values, ","), err),
		"leave out double quotes, or put them around a whole item")
}

func newlineFinding(rest string) finding.Finding {
	return finding.Finding{
		Code: "override-newline", Severity: finding.Error,
		Message: fmt.Sprintf("only the first line of the value is read; kube-apiserver drops %q without a word", rest),
		Fix:     "write the value on one line", Ref: "github.com/spf13/pflag string_slice.go, readAsCSV",
	}
}
