package check

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
	"github.com/kubeseams/seams/internal/yamltext"
)

// Command is a command line that stands in no manifest: a list of flags, or
// what a unit file starts.
type Command struct {
	// File is where it is written.
	File string
	// Component is the program, as package target names it.
	Component string
	// Words are the arguments, without the program.
	Words []Word
}

// Word is one argument and the line it stands on, from 1.
type Word struct {
	Text string
	Line int
}

// addCommands makes processes of command lines. Of a list that names no main
// etcd nothing is concluded from what is missing in it.
func (c *checker) addCommands(commands []Command) {
	for _, command := range commands {
		root := &yaml.Node{Kind: yaml.SequenceNode, Line: 1}
		words := make([]word, len(command.Words))
		for i, w := range command.Words {
			root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: w.Text, Line: w.Line})
			words[i] = word{w.Text, fmt.Sprintf("[%d]", i)}
		}
		d := &document{file: command.File, text: yamltext.Document{Line: 1}, root: root, parsed: true}
		p := &process{component: command.Component, host: dirOf(command.File), doc: d}
		p.args = c.parseArgs(p, words)
		_, p.complete = p.flag("etcd-servers")
		c.processes = append(c.processes, p)
	}
}

// wouldSee reports whether an etcd that a process asks at an address would be
// among the files if it existed: of what runs today only the static pods in
// the kubelet's own directory can be expected to be all there.
func (c *checker) wouldSee(p *process, stores []endpoint, server string) bool {
	if !c.existing {
		return true
	}
	u, err := url.Parse(server)
	return err == nil && loopback(u.Hostname()) && p.pod != nil && !p.byKubeadm && path.Base(p.host) == "manifests" &&
		slices.ContainsFunc(stores, func(e endpoint) bool { return !e.process.byKubeadm && e.process.host == p.host })
}

// judgeLive compares static pods that kubeadm has written, and somebody may
// have edited, with the configuration that kubeadm's next upgrade reads. The
// pods that kubeadm would write are then judged no further: the others are there.
func (c *checker) judgeLive() {
	for _, cl := range c.clusters {
		for _, name := range sortedKeys(cl.processes) {
			planned := cl.processes[name]
			found := false
			for _, live := range c.processes {
				if live.isPodOf(name) && isBelow(live.host, cl.dir) {
					c.compareLive(planned, live)
					found = true
				}
			}
			if found {
				c.processes = slices.DeleteFunc(c.processes, func(p *process) bool { return p == planned })
			}
		}
	}
}

// isPodOf reports whether a process is that of kubeadm's static pod of a name,
// or of the mirror pod that the kubelet makes of it with the node's name behind.
func (p *process) isPodOf(name string) bool {
	return p.component == name && p.pod != nil && !p.byKubeadm && namespace(p) == "kube-system" &&
		(p.podName == name || p.pod.Annotations["kubernetes.io/config.mirror"] != "" && strings.HasPrefix(p.podName, name+"-"))
}

// formerOwn are flags that kubeadm wrote itself in older minors, which an
// upgrade takes away as it should.
var formerOwn = []string{
	"insecure-port", "port", "experimental-initial-corrupt-check", "experimental-watch-progress-notify-interval",
	"cloud-provider", "requestheader-allowed-names", "feature-gates", "watch-progress-notify-interval",
}

// hostFlags have values that kubeadm finds on each host.
var hostFlags = []string{
	"advertise-address", "secure-port", "name", "initial-cluster", "initial-cluster-state", "listen-client-urls",
	"advertise-client-urls", "listen-peer-urls", "initial-advertise-peer-urls", "listen-metrics-urls",
}

// compareLive says what the next upgrade changes in a live pod's command line.
func (c *checker) compareLive(planned, live *process) {
	said := map[string]bool{}
	for _, a := range live.args {
		if said[a.name] || slices.Contains(hostFlags, a.name) {
			continue
		}
		said[a.name] = true
		now, later := live.all(a.name), planned.all(a.name)
		switch {
		case len(later) == 0 && slices.Contains(formerOwn, a.name) && planned.component != target.KubeAPIServer:
		case len(later) == 0:
			c.at(a.doc, a.valuePath, c.dropped(planned, a))
		case !slices.Equal(now, later):
			c.at(a.doc, a.valuePath, c.changed(planned, a.name, now, later))
		}
	}
	for _, a := range planned.args {
		if a.own && !said[a.name] && len(live.all(a.name)) == 0 {
			said[a.name] = true
			c.at(a.doc, a.path, finding.Finding{
				Code: "upgrade-adds-flag", Severity: finding.Warning,
				Message: fmt.Sprintf("--%s is in the configuration and not in the manifest %s: the running %s goes without it until the next upgrade", a.name, live.doc.file, planned.component),
				Fix:     "kubeadm init phase control-plane, or etcd, writes the manifest anew",
			})
		}
	}
}

const refUpgrade = "https://github.com/kubernetes/kubeadm/issues/2157"

// place is where in a kubeadm configuration a component's arguments belong.
func (p *process) place() string {
	at := map[string]string{
		target.KubeAPIServer: "apiServer", target.KubeControllerManager: "controllerManager",
		target.KubeScheduler: "scheduler", target.Etcd: "etcd.local",
	}[p.component]
	return at + ".extraArgs"
}

func (c *checker) dropped(planned *process, a arg) finding.Finding {
	return finding.Finding{
		Code: "upgrade-drops-flag", Severity: finding.Error,
		Message: fmt.Sprintf("--%s stands in the manifest and not in the configuration in %s: the next kubeadm upgrade removes it", a.name, planned.doc.file),
		Fix:     fmt.Sprintf("add it to %s, and store that with kubeadm init phase upload-config kubeadm", planned.place()),
		Ref:     refUpgrade,
	}
}

// changed is about a value that differs: an edit of the manifest when the
// configuration does not speak of the flag, and otherwise a change not yet made.
func (c *checker) changed(planned *process, name string, now, later []string) finding.Finding {
	f := finding.Finding{
		Code: "upgrade-changes-flag", Severity: finding.Error,
		Message: fmt.Sprintf("--%s is %q in the manifest, and %q by the configuration in %s: the next kubeadm upgrade changes it", name, strings.Join(now, ","), strings.Join(later, ","), planned.doc.file),
		Fix:     fmt.Sprintf("add it to %s, and store that with kubeadm init phase upload-config kubeadm", planned.place()),
		Ref:     refUpgrade,
	}
	if a, ok := planned.arg(name); ok && a.own {
		f.Severity = finding.Warning
		f.Fix = "make the two agree"
	} else if name == "etcd-servers" {
		f.Fix = "set etcd.external in the configuration, and store that with kubeadm init phase upload-config kubeadm"
	}
	return f
}

// judgeOneServer judges an apiserver that names one etcd which is not among the
// files. On the etcd's own host that is kubeadm's way; anywhere else the
// apiserver is lost with that one member.
func (c *checker) judgeOneServer(p *process, server string) {
	u, err := url.Parse(server)
	if err != nil || loopback(u.Hostname()) || u.Hostname() == "" || u.Scheme == "unix" {
		return
	}
	f := finding.Finding{
		Code: "etcd-servers-incomplete", Severity: finding.Error,
		Message: fmt.Sprintf("%s names one etcd, %s, on another host, and is lost with it", p, server),
		Fix:     "list the client URLs of all members", Ref: "https://github.com/scality/metalk8s/issues/2080",
	}
	switch own, ok := p.flag("advertise-address"); {
	case own == u.Hostname():
		return
	case !ok:
		f.Severity = finding.Warning
		f.Message = fmt.Sprintf("%s names one etcd, %s, and is lost with it unless the two are on one host", p, server)
	}
	c.atFlag(p, "etcd-servers", f)
}

// judgeExternal says the same of a kubeadm configuration with an external etcd.
func (c *checker) judgeExternal() {
	for _, cl := range c.clusters {
		external := cl.file.clusterConfig
		if external == nil || external.Etcd.External == nil || len(external.Etcd.External.Endpoints) != 1 || cl.file.cluster == nil {
			continue
		}
		c.at(cl.file.cluster, "etcd.external.endpoints", finding.Finding{
			Code: "etcd-servers-incomplete", Severity: finding.Warning,
			Message: "every kube-apiserver is given one member of etcd, and is lost with it",
			Fix:     "list the client URLs of all members", Ref: "https://github.com/scality/metalk8s/issues/2080",
		})
	}
}

// judgeDisks: etcds whose data lies side by side on one host have one disk, as
// far as the files tell, and so wait for each other's fsyncs.
func (c *checker) judgeDisks() {
	first := map[string]*process{}
	for _, p := range c.of(target.Etcd) {
		dir := p.hostDataDir()
		if dir == "" || p.inMemory() {
			continue
		}
		key := p.host + " " + path.Dir(dir)
		other := first[key]
		if other == nil {
			first[key] = p
			continue
		}
		c.atFlag(p, "data-dir", finding.Finding{
			Code: "etcd-same-disk", Severity: finding.Info,
			Message: fmt.Sprintf("%s and %s keep their data in %s of one host: unless one has a disk of its own mounted there, they share its fsyncs, and only size and compaction are apart", p.podName, other.podName, path.Dir(dir)),
			Fix:     "mount another disk, or know that the split is no capacity",
			Ref:     "https://github.com/kubernetes-sigs/kubespray/pull/2385",
		})
	}
}
