package read

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"k8s.io/kubernetes/cmd/kubeadm/app/util/patches"

	"github.com/kubeseams/seams/internal/pattern"
)

// Kind says what a file is, as far as lint is concerned; a file may be several.
type Kind uint16

// The kinds, None being anything else.
const (
	Kubeadm     Kind = 1 << iota // documents of kubeadm.k8s.io
	Component                    // configurations of the kubelet, kube-proxy or the scheduler
	ConfigMap                    // ConfigMaps that carry one of those, alone or in a List
	Pod                          // pods of the control plane, alone or in a List
	Patch                        // a file in a patches directory of kubeadm
	Kops                         // Cluster and InstanceGroup of kOps
	KindCluster                  // a kind Cluster
	Flags                        // a list of flags, or a command line

	None Kind = 0
)

// Names are what a user calls the kinds.
var Names = map[string]Kind{
	"kubeadm": Kubeadm, "component": Component, "configmap": ConfigMap, "manifest": Pod, "patch": Patch,
	"kops": Kops, "kind": KindCluster, "flags": Flags,
}

// Has reports whether a file is of a kind.
func (k Kind) Has(x Kind) bool { return k&x != 0 }

// groups are the API groups whose documents are linted.
var groups = map[string]Kind{
	"kubeadm.k8s.io":              Kubeadm,
	"kubelet.config.k8s.io":       Component,
	"kubeproxy.config.k8s.io":     Component,
	"kubescheduler.config.k8s.io": Component,
	"kops.k8s.io":                 Kops,
	"kind.x-k8s.io":               KindCluster,
}

// hints are what a file must have somewhere in it to be of any kind; most
// files of a tree have none, and are looked at no further.
var hints = [][]byte{
	[]byte("kubeadm.k8s.io"), []byte("config.k8s.io"), []byte("kops"), []byte("kind.x-k8s.io"),
	[]byte("kube-apiserver"), []byte("etcd"), []byte("kube-controller-manager"), []byte("kube-scheduler"), []byte("apiextensions-apiserver"),
}

var (
	topLevel  = pattern.Of(`(?m)^["']?(apiVersion|kind)["']?:[ \t]+["']?([A-Za-z0-9./-]+)["']?[ \t]*(?:#.*)?\r?$`)
	podWords  = pattern.Of(`(?m)(?:^|[\s"'/,\[])(kube-apiserver|kube-controller-manager|kube-scheduler|etcd|apiextensions-apiserver)["']?[\s,\]]`)
	anyKind   = pattern.Of(`["']?kind["']?:\s*["']?(Pod|ConfigMap|List|PodList|ConfigMapList)\b`)
	anyGroup  = pattern.Of(`["']?apiVersion["']?:\s*["']?([a-z0-9.-]+\.k8s\.io)/`)
	flagStart = pattern.Of(`^--?[a-z][a-z0-9_-]*([= ]|$)`)
	envStart  = pattern.Of(`^[A-Z][A-Z0-9_]*_(EXTRA_ARGS|OPTS|ARGS|FLAGS)=`)
)

// Of tells what a file is by its name and text. Named files are those that the
// user has pointed at, where a list of flags is recognised by its text alone.
func Of(name string, data []byte, named bool) Kind {
	k := byDocuments(data)
	if k == None && (named || IsFlagsName(name)) && looksLikeFlags(data) {
		return Flags
	}
	return k
}

func byDocuments(data []byte) Kind {
	if !slices.ContainsFunc(hints, func(h []byte) bool { return bytes.Contains(data, h) }) {
		return None
	}
	k, seen := None, false
	for _, m := range topLevel().FindAllSubmatch(data, -1) {
		seen = true
		if string(m[1]) == "kind" {
			k |= ofKind(string(m[2]), data)
			continue
		}
		group, _, _ := strings.Cut(string(m[2]), "/")
		k |= groups[group]
	}
	if seen {
		return k
	}
	// JSON, or YAML in flow style: what stands on which level is not told here.
	for _, m := range anyGroup().FindAllSubmatch(data, -1) {
		k |= groups[string(m[1])]
	}
	for _, m := range anyKind().FindAllSubmatch(data, -1) {
		k |= ofKind(string(m[1]), data)
	}
	return k
}

// ofKind judges objects of the core group by what is in them.
func ofKind(kind string, data []byte) Kind {
	k := None
	list := strings.HasSuffix(kind, "List")
	if kind == "Pod" || list {
		if podWords().Match(data) {
			k |= Pod
		}
	}
	if kind == "ConfigMap" || list {
		if bytes.Contains(data, []byte("kubeadm.k8s.io")) || bytes.Contains(data, []byte("config.k8s.io")) {
			k |= ConfigMap
		}
	}
	return k
}

// IsFlagsName reports whether a name in a tree is that of a list of flags.
func IsFlagsName(name string) bool {
	switch path.Ext(name) {
	case ".flags", ".args":
		return true
	}
	return path.Base(name) == "kubeadm-flags.env"
}

// looksLikeFlags looks at the first line that is not blank or a comment.
func looksLikeFlags(data []byte) bool {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if flagStart().Match(line) || envStart().Match(line) {
			return true
		}
		first, _, _ := strings.Cut(string(line), " ")
		return slices.Contains(programs, path.Base(first))
	}
	return false
}

var patchName = pattern.Of(`^(` + strings.Join(patches.KnownTargets(), "|") + `)|\+(json|merge|strategic)?\.[a-z]+$`)

// IsPatchName reports whether a name is one that kubeadm's patches have.
func IsPatchName(base string) bool { return patchName().MatchString(base) }

// IsYAMLName reports whether files of that name are read for documents.
func IsYAMLName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json", ".manifest", ".conf":
		return true
	}
	return false
}
