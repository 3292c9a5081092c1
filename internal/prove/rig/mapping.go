package rig

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/pattern"
)

// anyAddress is where a program listens that is told nothing.
const anyAddress = "0.0.0.0"

// mapping puts addresses and paths of one host into their places on this machine.
type mapping struct {
	// hosts are the addresses of this machine by the rendered ones.
	hosts map[string]string
	// local is this host's.
	local string
	// dir holds this host's files.
	dir string
}

// Change is one difference between what a manifest says and what runs.
type Change struct {
	// What is a flag ("--bind-address"), "image", or a file and the field in it.
	What string `json:"what"`
	// From is empty for what was added.
	From string `json:"from,omitempty"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// The reasons for changes.
const (
	whyAddress = "a host is an address on loopback here"
	whyPath    = "a host's files are below a directory here"
	whyBoth    = "a host is an address on loopback and its files are below a directory here"
	whyBind    = "hosts share one machine, and the default is every address"
	whyNoEnds  = "Endpoints may not hold addresses on loopback"
	whyPlugins = "the default would be made on this machine, outside the rig's directory"
	whyImage   = "programs run as processes here"
)

var (
	// An address on its own, not a piece of a longer word.
	ipv4 = pattern.Of(`(?:[0-9]{1,3}\.){3}[0-9]{1,3}`)
	// The host of a URL where it is a name, or an address of IPv6.
	urlHost = pattern.Of(`://(\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z][0-9A-Za-z.-]*)`)
)

// address is where a rendered host is; one that is no host's stays.
func (m mapping) address(host string) string {
	switch host {
	case "127.0.0.1", anyAddress, "localhost", "::1", "::":
		return m.local
	}
	if to, ok := m.hosts[host]; ok {
		return to
	}
	return host
}

// text maps the addresses in the value of a flag. Ranges stay as they are.
func (m mapping) text(value string) string {
	var b strings.Builder
	last := 0
	for _, at := range ipv4().FindAllStringIndex(value, -1) {
		b.WriteString(value[last:at[0]])
		last = at[1]
		token := value[at[0]:at[1]]
		if alone(value, at[0], at[1]) {
			token = m.address(token)
		}
		b.WriteString(token)
	}
	b.WriteString(value[last:])
	return urlHost().ReplaceAllStringFunc(b.String(), func(match string) string {
		host := strings.Trim(strings.TrimPrefix(match, "://"), "[]")
		if to := m.address(host); to != host {
			return "://" + to
		}
		return match
	})
}

// alone reports whether value[from:to] is an address and no part of a name or
// of a range.
func alone(value string, from, to int) bool {
	if from > 0 && wordByte(value[from-1]) {
		return false
	}
	if to == len(value) {
		return true
	}
	if value[to] == '/' {
		return to+1 == len(value) || value[to+1] < '0' || value[to+1] > '9'
	}
	return !wordByte(value[to])
}

func wordByte(c byte) bool {
	return c == '.' || c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// onHost is where a path of the host lies.
func (m mapping) onHost(p string) string {
	return filepath.Join(m.dir, filepath.FromSlash(p))
}

// path maps a path as a pod sees it, through its deepest mount.
func (m mapping) path(value string, mounts []mount) string {
	best := mount{}
	for _, x := range mounts {
		if within(value, x.inPod) && len(x.inPod) > len(best.inPod) {
			best = x
		}
	}
	if best.inPod == "" {
		return value
	}
	return m.onHost(path.Join(best.onHost, strings.TrimPrefix(value, best.inPod)))
}

func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// value maps the value of a flag: addresses in it, and paths that are the
// whole of it or items of a list. It gives the reason for a change, or none.
func (m mapping) value(value string, mounts []mount) (string, string) {
	items := strings.Split(value, ",")
	paths, addresses := false, false
	for i, item := range items {
		if to := m.path(item, mounts); to != item {
			items[i], paths = to, true
		} else if to := m.text(item); to != item {
			items[i], addresses = to, true
		}
	}
	switch {
	case paths && addresses:
		return strings.Join(items, ","), whyBoth
	case paths:
		return strings.Join(items, ","), whyPath
	case addresses:
		return strings.Join(unique(items), ","), whyAddress
	}
	return value, ""
}

// unique drops items that have become the same: the two addresses of a host
// that an etcd listens on are one here, and it cannot listen there twice.
func unique(items []string) []string {
	var kept []string
	for _, item := range items {
		if !slices.Contains(kept, item) {
			kept = append(kept, item)
		}
	}
	return kept
}

// command maps a command line and adds what has to be added. program is the
// path of the program that runs.
func (m mapping) command(p pod, program string) ([]string, []Change) {
	argv := []string{program}
	changes := []Change{{What: "image", From: p.image, To: program, Why: whyImage}}
	name := ""
	for _, word := range p.argv[1:] {
		flagged := strings.HasPrefix(word, "-")
		prefix, value := "", word
		if flagged {
			var has bool
			if name, value, has = strings.Cut(word, "="); !has {
				argv = append(argv, word)
				continue
			}
			prefix = name + "="
		}
		to, why := m.value(value, p.mounts)
		if name == "--endpoint-reconciler-type" && value != "none" {
			to, why = "none", whyNoEnds
		}
		if why != "" {
			changes = append(changes, Change{What: orDefault(name, "argument"), From: value, To: to, Why: why})
		}
		argv = append(argv, prefix+to)
		if !flagged {
			name = ""
		}
	}
	for _, a := range m.additions(p) {
		argv = append(argv, a.What+"="+a.To)
		changes = append(changes, a)
	}
	return argv, changes
}

// additions are the flags that a program needs here and its manifest lacks.
func (m mapping) additions(p pod) []Change {
	var added []Change
	add := func(name, value, why string) {
		if _, has := flag(p.argv, name); !has {
			added = append(added, Change{What: "--" + name, To: value, Why: why})
		}
	}
	switch path.Base(p.argv[0]) {
	case "kube-apiserver":
		add("bind-address", m.local, whyBind)
		add("endpoint-reconciler-type", "none", whyNoEnds)
	case "kube-controller-manager":
		add("bind-address", m.local, whyBind)
		add("flex-volume-plugin-dir", m.onHost("/usr/libexec/kubernetes/kubelet-plugins/volume/exec"), whyPlugins)
	case "kube-scheduler", "apiextensions-apiserver":
		add("bind-address", m.local, whyBind)
	}
	return added
}
