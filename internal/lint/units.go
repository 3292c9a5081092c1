package lint

import (
	"path"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/lint/read"
)

// unit is what is judged together.
type unit struct {
	members []member
	// apart are files that would have been judged together and are too many.
	apart bool
}

// member is a file and the name under which it is judged, which says on which
// host it stands.
type member struct {
	record
	name string
}

// maxTogether bounds what is judged together, in files and bytes. A control
// plane of seven hosts has some fifty files.
const (
	maxTogether      = 200
	maxTogetherBytes = 16 << 20
)

// form puts records together that are of one cluster:
//   - the manifests, patches and component configurations of a directory with
//     the one kubeadm configuration in it, or in the cluster's directory above
//   - hosts whose directories stand beside each other and whose processes name
//     the same etcd
//   - kOps' Cluster and the InstanceGroups that name it, near each other
//   - everything, when the user says so.
//
// Whatever stands alone is judged alone.
func form(records []record, in Input) []unit {
	f := &former{in: in, parent: map[string]string{}, roots: map[string]*root{}}
	for i := range records {
		f.note(&records[i])
	}
	for i := range records {
		f.join(&records[i])
	}
	var order []string
	groups := map[string][]record{}
	for _, r := range records {
		key := f.find("file:" + r.path)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	var units []unit
	for _, key := range order {
		units = append(units, f.units(groups[key])...)
	}
	return units
}

// root is a directory that stands for a host, or for a cluster above its hosts.
type root struct {
	clusters, components int
	pods                 map[string]int
}

type former struct {
	in     Input
	parent map[string]string
	roots  map[string]*root
	// configs are the files that the user has named as the configuration.
	configs []string
}

// rootOf is the directory that a file belongs to: that above manifests and patches.
func rootOf(name string) string {
	dir := path.Dir(name)
	if base := path.Base(dir); base == "manifests" || base == "patches" {
		dir = path.Dir(dir)
	}
	return dir
}

// above is the directory of the cluster that a host's directory belongs to:
// CLUSTER/HOST or CLUSTER/manifests/HOST.
func above(dir string) string {
	up := path.Dir(dir)
	if path.Base(up) == "manifests" {
		up = path.Dir(up)
	}
	return up
}

func (f *former) note(r *record) {
	dir := rootOf(r.path)
	at := f.roots[dir]
	if at == nil {
		at = &root{pods: map[string]int{}}
		f.roots[dir] = at
	}
	at.clusters += r.clusters
	if r.kind == read.Component {
		at.components++
	}
	for _, pod := range r.pods {
		at.pods[path.Dir(r.path)+" "+pod]++
	}
	if r.entry.Config {
		f.configs = append(f.configs, r.path)
	}
}

// join puts a record to others.
func (f *former) join(r *record) {
	file, dir := "file:"+r.path, rootOf(r.path)
	at := f.roots[dir]
	f.find(file)
	if f.in.OneCluster {
		f.union(file, "all")
		return
	}
	for _, name := range r.kops {
		f.union(file, "kops:"+name+"@"+dir)
	}
	for _, name := range r.kopsGroups {
		f.union(file, "kops:"+name+"@"+dir)
		if up := path.Dir(dir); up != dir {
			f.union(file, "kops:"+name+"@"+up)
		}
	}
	control := r.kind.Has(read.Kubeadm | read.ConfigMap | read.Pod | read.Patch)
	switch {
	case len(f.configs) > 0 && (control || r.entry.Config):
		if r.clusters == 0 || r.entry.Config {
			f.union(file, "config")
		}
		return
	case !control && r.kind != read.Component:
		return
	case r.kind == read.Component && (at.components > 1 || at.clusters > 1):
		return
	case r.kind.Has(read.Kubeadm|read.ConfigMap) && at.clusters > 1:
		return // alternatives of each other: nobody runs them together
	}
	f.union(file, "dir:"+dir)
	if up := f.roots[above(dir)]; up != nil && up != at && up.clusters == 1 && at.clusters == 0 && len(at.pods) > 0 {
		f.union(file, "dir:"+above(dir))
	}
	for _, peer := range r.peers {
		f.union(file, "etcd:"+peer+"@"+path.Dir(dir))
	}
}

func (f *former) find(key string) string {
	p, ok := f.parent[key]
	if !ok {
		f.parent[key] = key
		return key
	}
	if p == key {
		return key
	}
	top := f.find(p)
	f.parent[key] = top
	return top
}

func (f *former) union(a, b string) {
	a, b = f.find(a), f.find(b)
	if a != b {
		f.parent[max(a, b)] = min(a, b)
	}
}

// units makes a unit of records that belong together, or one of each where
// they are too many.
func (f *former) units(records []record) []unit {
	size := 0
	for _, r := range records {
		size += r.size
	}
	if len(records) <= maxTogether && size <= maxTogetherBytes {
		return []unit{{members: f.members(records)}}
	}
	var units []unit
	for i, r := range records {
		units = append(units, unit{members: []member{{r, r.path}}, apart: i == 0})
	}
	return units
}

// members names the records of a unit. A directory holds one host's manifests,
// unless a pod stands in it twice: then each file is another host's. A
// configuration that the user has named stands above all hosts.
func (f *former) members(records []record) []member {
	members := make([]member, len(records))
	for i, r := range records {
		name := r.path
		switch {
		case r.entry.Config || f.in.OneCluster && r.clusters > 0:
			name = path.Base(r.path)
		case f.severalHosts(r):
			name = r.path + ".host/" + path.Base(r.path)
		}
		members[i] = member{r, name}
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return members
}

// severalHosts reports whether a pod of the file is also in another of its directory.
func (f *former) severalHosts(r record) bool {
	dir := path.Dir(r.path)
	if path.Base(dir) == "manifests" {
		return false // the kubelet reads all of them
	}
	at := f.roots[rootOf(r.path)]
	return slices.ContainsFunc(r.pods, func(pod string) bool { return at.pods[dir+" "+pod] > 1 })
}

// tooMany is what is said of files that are judged apart.
func tooMany(name string) finding.Finding {
	return finding.Finding{
		Code: "lint-apart", Severity: finding.Warning, File: name,
		Message: "this file and the others of its cluster are too many to be judged together: each was judged by itself",
		Fix:     "lint the cluster's directories in parts",
	}
}
