package lint

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/lint/read"
	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/target"
)

// record is what is kept of a file from the first reading to the second.
type record struct {
	path  string
	entry Entry
	kind  read.Kind
	size  int
	// clusters counts its documents of kind ClusterConfiguration.
	clusters int
	// pods are the names of its pods.
	pods []string
	// peers are the URLs of the main etcd that its processes name, by which
	// hosts of one cluster know each other.
	peers []string
	// kops are the names of its kOps clusters, and kopsGroups those its groups belong to.
	kops, kopsGroups []string
	// version is the Kubernetes version that it tells, and tells how well.
	version target.Version
	tells   int
}

// How well a file tells the version of its cluster: what it installs before
// what runs today.
const (
	tellsNothing = iota
	tellsImage
	tellsConfig
)

func unreadable(name string, err error) finding.Finding {
	return finding.Finding{
		Code: "file-unreadable", Severity: finding.Error, File: name,
		Message: fmt.Sprintf("cannot be read: %v", bare(err)),
	}
}

// bare is an error without the path that the finding has already.
func bare(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// look reads an entry and tells what it is; the record is nil for a file that
// is not linted.
func (l *linter) look(e Entry) (*record, []finding.Finding) {
	data, err := l.read(e.Path)
	tooBig := errors.Is(err, read.ErrTooBig)
	if err != nil && !tooBig {
		return nil, []finding.Finding{unreadable(e.Path, err)}
	}
	kind := l.in.As
	if kind == read.None {
		kind = read.Of(e.Path, data, e.Named)
		if isPatch(e.Path) {
			kind = read.Patch
		}
	}
	switch {
	case kind == read.None && !e.Named:
		return nil, nil
	case tooBig:
		return nil, []finding.Finding{{
			Code: "file-too-big", Severity: finding.Error, File: e.Path,
			Message: fmt.Sprintf("the file has more than the %d bytes that are read", read.MaxBytes), Fix: "split it",
		}}
	case kind == read.None && read.IsUTF16(data):
		return nil, []finding.Finding{{
			Code: "not-linted", Severity: finding.Warning, File: e.Path,
			Message: "the file is UTF-16, of which nothing is read", Fix: "save it as UTF-8",
		}}
	case kind == read.None:
		return nil, []finding.Finding{{
			Code: "not-linted", Severity: finding.Warning, File: e.Path,
			Message: "the file is of no kind that is linted: kubeadm, component and kOps configurations, kubeadm's ConfigMaps and patches, manifests of the control plane, kind clusters, lists of flags",
			Fix:     "say with --as what it is",
		}}
	}
	if err := read.Bounds(data); err != nil {
		return nil, []finding.Finding{{
			Code: "file-too-complex", Severity: finding.Error, File: e.Path, Message: err.Error(),
			Fix: "split the file, or leave out what is not the control plane's",
		}}
	}
	r := &record{path: e.Path, entry: e, kind: kind, size: len(data)}
	r.note(data)
	return r, l.holds(e, data)
}

// holds says so when a file has nothing of the kind that the user says it is:
// nothing in it would be judged, whatever is wrong with it.
func (l *linter) holds(e Entry, data []byte) []finding.Finding {
	if l.in.As == read.None || l.in.As.Has(read.Flags|read.Patch) || read.Of(e.Path, data, true).Has(l.in.As) {
		return nil
	}
	return []finding.Finding{{
		Code: "not-linted", Severity: finding.Warning, File: e.Path,
		Message: "nothing in the file is of the kind that --as says, so that nothing of it is judged",
		Fix:     "leave --as out, or say another kind",
	}}
}

func (l *linter) read(name string) ([]byte, error) {
	f, err := l.in.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := read.All(f)
	return data, errors.Join(err, f.Close())
}

// isPatch tells a patch by its place, since its text has no kind. Other tools
// have directories of that name too, so that the file's name must be one that
// kubeadm's patches have, or nearly have.
func isPatch(name string) bool {
	base := path.Base(name)
	return path.Base(path.Dir(name)) == "patches" && (read.IsPatchName(base) || strings.Contains(base, "+"))
}

var (
	clusterConfig = pattern.Of(`(?m)\bkind["']?:\s*["']?ClusterConfiguration\b`)
	configVersion = pattern.Of(`(?m)\bkubernetesVersion["']?:\s*["']?v?(\d+\.\d+(?:\.\d+)?)\b`)
	imageVersion  = pattern.Of(`(?:kube-(?:apiserver|controller-manager|scheduler)|kindest/node):v(\d+\.\d+\.\d+)`)
	podName       = pattern.Of(`(?m)^  name:\s*["']?([a-z0-9.-]+)|metadata["']?:\s*\{[^{}]*?\bname["']?:\s*["']?([a-z0-9.-]+)`)
	etcdServers   = pattern.Of(`--(?:etcd-servers|initial-cluster)[= ]["']?([^\s"']+)`)
	kopsName      = pattern.Of(`(?ms)^kind:\s*Cluster\b`)
	kopsLabel     = pattern.Of(`kops\.k8s\.io/cluster["']?:\s*["']?([A-Za-z0-9.-]+)`)
)

// escapes turns what a text in double quotes has for breaks and quotes into those.
var escapes = strings.NewReplacer(`\n`, "\n", `\"`, `"`)

// note keeps what decides with which other files this one is judged. It goes
// by the text alone: what it gets wrong costs a comparison between files.
func (r *record) note(data []byte) {
	text := string(data)
	if r.kind.Has(read.ConfigMap) {
		// A configuration may stand in quotes, as one line of JSON or YAML.
		text = escapes.Replace(text)
	}
	if r.kind.Has(read.Kubeadm | read.ConfigMap) {
		r.clusters = len(clusterConfig().FindAllStringIndex(text, -1))
	}
	if r.kind.Has(read.Pod) {
		r.pods = names(text)
		for _, m := range etcdServers().FindAllStringSubmatch(text, -1) {
			r.peers = append(r.peers, addresses(m[1])...)
		}
	}
	if r.kind.Has(read.Kops) {
		for _, m := range kopsLabel().FindAllStringSubmatch(text, -1) {
			r.kopsGroups = append(r.kopsGroups, m[1])
		}
		if kopsName().MatchString(text) {
			r.kops = names(text)
		}
	}
	if m := configVersion().FindStringSubmatch(text); m != nil && r.kind.Has(read.Kubeadm|read.ConfigMap|read.Kops) {
		r.tell(m[1], tellsConfig)
	} else if m := imageVersion().FindStringSubmatch(text); m != nil {
		r.tell(m[1], tellsImage)
	}
}

// names are the names of a file's objects.
func names(text string) []string {
	var all []string
	for _, m := range podName().FindAllStringSubmatch(text, -1) {
		all = append(all, m[1]+m[2])
	}
	return all
}

func (r *record) tell(text string, how int) {
	if v, err := target.ParseVersion(text); err == nil {
		r.version, r.tells = v, how
	}
}

// addresses are the URLs of a list that mean the same on every host.
func addresses(list string) []string {
	var all []string
	for item := range strings.SplitSeq(list, ",") {
		if _, server, ok := strings.Cut(item, "="); ok {
			item = server
		}
		u, err := url.Parse(item)
		if err != nil || u.Host == "" || slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, u.Hostname()) {
			continue
		}
		all = append(all, u.Hostname())
	}
	return all
}
