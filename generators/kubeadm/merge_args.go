package kubeadm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
	"github.com/kubeseams/seams/internal/yamltext"
)

// capacities are the arguments, and the kubelet's fields, whose larger value
// carries more: a plan does not take away what somebody has raised. Rates of
// Events are none, since a plan may lower them on purpose.
var capacities = []string{
	"max-requests-inflight", "max-mutating-requests-inflight", "kube-api-qps", "kube-api-burst", "quota-backend-bytes",
	"delete-collection-workers", "kubeAPIQPS", "kubeAPIBurst", "maxPods",
}

// joined are the arguments that are lists, by what ends an entry's name: the
// plan's entries join those that are there.
var joined = map[string]string{
	"feature-gates": "=", "runtime-config": "=", "etcd-servers-overrides": "#", "watch-cache-sizes": "#",
	"enable-admission-plugins": "", "disable-admission-plugins": "", "controllers": "",
}

// programs are those that a ClusterConfiguration's components are.
var programs = map[string]string{"apiServer": "kube-apiserver", "controllerManager": "kube-controller-manager", "scheduler": "kube-scheduler"}

// component fits what is wanted of a component to what it has.
func (m *merger) component(cluster map[string]any, name string) {
	want, _ := cluster[name].(map[string]any)
	have, _ := m.present.find("ClusterConfiguration").value[name].(map[string]any)
	if args, ok := want["extraArgs"].(yamltext.Keyed); ok {
		want["extraArgs"] = m.arguments(name+".extraArgs", programs[name], args, have["extraArgs"])
	}
	if name == "scheduler" && m.schedulerConfig(have) {
		args, _ := want["extraArgs"].(yamltext.Keyed)
		args.Items = slices.DeleteFunc(args.Items, func(arg map[string]any) bool { return arg["name"] == "config" })
		want["extraArgs"] = args
		delete(want, "extraVolumes")
	}
}

// schedulerConfig reports whether the scheduler has a configuration file of the
// user's, which stays: profiles and plugins are in it.
func (m *merger) schedulerConfig(have map[string]any) bool {
	config := controlplane.SchedulerConfig(m.plan)
	old := values(have["extraArgs"], "config")
	if config == nil || len(old) == 0 || old[len(old)-1] == controlplane.SchedulerConfigPath {
		return false
	}
	m.say(finding.Finding{
		Code: "kubeadm-scheduler-config", Severity: finding.Warning, Path: "ClusterConfiguration.scheduler.extraArgs[config]",
		Message: fmt.Sprintf("the scheduler keeps its own configuration %s, without the plan's clientConnection: qps %g, burst %d",
			strings.Join(old, "; "), config.ClientConnection.QPS, config.ClientConnection.Burst),
		Fix: "put clientConnection into that file on each host",
	})
	return true
}

// arguments fits the wanted arguments to those that are there: entries of list
// arguments join, a larger capacity stays, and an argument that stands twice is
// not guessed at.
func (m *merger) arguments(path, program string, want yamltext.Keyed, have any) yamltext.Keyed {
	out := yamltext.Keyed{Key: want.Key}
	for _, arg := range want.Items {
		name, _ := arg["name"].(string)
		value, _ := arg["value"].(string)
		old := values(have, name)
		at := "ClusterConfiguration." + path + "[" + name + "]"
		switch separator, isList := joined[name]; {
		case len(old) == 0:
		case len(old) > 1:
			m.say(finding.Finding{
				Code: "kubeadm-merge-refused", Severity: finding.Error, Path: at,
				Message: fmt.Sprintf("the argument stands %d times (%s), and the plan wants it once: %s", len(old), strings.Join(old, "; "), value),
				Fix:     "leave one, and merge again",
			})
			continue
		case isList:
			value = join(old[0], value, separator)
		case m.same(program, name, old[0], value):
			value = old[0]
		case m.larger(at, name, old[0], value):
			continue
		}
		out.Items = append(out.Items, map[string]any{"name": name, "value": value})
	}
	return out
}

// values are those of all arguments of one name.
func values(args any, name string) []string {
	list, _ := args.([]any)
	var out []string
	for _, item := range list {
		if arg, ok := item.(map[string]any); ok && arg["name"] == name {
			out = append(out, fmt.Sprint(arg["value"]))
		}
	}
	return out
}

// join adds the wanted entries to those of a list; of one name the wanted one
// stays. A controller's minus is not part of its name.
func join(have, want, separator string) string {
	id := func(entry string) string {
		if separator == "" {
			return strings.TrimPrefix(entry, "-")
		}
		before, _, _ := strings.Cut(entry, separator)
		return before
	}
	entries := strings.Split(want, ",")
	var all []string
	for entry := range strings.SplitSeq(have, ",") {
		i := slices.IndexFunc(entries, func(w string) bool { return id(w) == id(strings.TrimSpace(entry)) })
		switch {
		case entry == "":
		case i >= 0 && separator == "=" && switched(entry) == switched(entries[i]):
			all = append(all, entry) // True is true
			entries = slices.Delete(entries, i, i+1)
		case i >= 0:
			all = append(all, entries[i])
			entries = slices.Delete(entries, i, i+1)
		default:
			all = append(all, entry)
		}
	}
	return strings.Join(append(all, entries...), ",")
}

// switched is an entry with its value as a bool is written, where it is one.
func switched(entry string) string {
	name, value, _ := strings.Cut(strings.TrimSpace(entry), "=")
	if on, err := strconv.ParseBool(value); err == nil {
		return name + "=" + strconv.FormatBool(on)
	}
	return name + "=" + value
}

// same reports whether two values of a program's flag are one to it.
func (m *merger) same(program, name, have, want string) bool {
	table, ok := target.Flags(m.plan.Target.Kubernetes, program)
	if !ok {
		return have == want
	}
	f, _ := table.Find(name)
	return f.Same(have, want)
}

// number reads one as flags do, which take 0x10 for 16.
func number(text string) (float64, error) {
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return float64(n), nil
	}
	return strconv.ParseFloat(text, 64)
}

// larger reports whether a capacity that is there is larger than the plan's, so
// that it stays, and says so.
func (m *merger) larger(path, name, have, want string) bool {
	h, err := number(have)
	w, wrong := number(want)
	if err != nil || wrong != nil || h <= w || !slices.Contains(capacities, name) {
		return false
	}
	m.say(finding.Finding{
		Code: "kubeadm-capacity-kept", Severity: finding.Info, Path: path,
		Message: fmt.Sprintf("stays at your own %s, more than the plan's %s", have, want),
	})
	return true
}

// keepCapacities leaves out of the wanted fields what is there and larger.
func (m *merger) keepCapacities(kind string, want, have map[string]any) {
	for _, name := range capacities {
		h, ok := have[name].(float64)
		if w, wanted := want[name].(int64); ok && wanted && m.larger(kind+"."+name, name, strconv.FormatFloat(h, 'f', -1, 64), strconv.FormatInt(w, 10)) {
			delete(want, name)
		}
	}
}

// etcd fits what is wanted of main: its data stays where it is, and an etcd that
// kubeadm does not run cannot be given a quota here.
func (m *merger) etcd(cluster map[string]any) {
	want, _ := cluster["etcd"].(map[string]any)
	local, _ := want["local"].(map[string]any)
	delete(local, "dataDir")
	have, _ := m.present.find("ClusterConfiguration").value["etcd"].(map[string]any)
	if have["external"] != nil {
		delete(cluster, "etcd")
		m.say(finding.Finding{
			Code: "kubeadm-etcd-external", Severity: finding.Warning, Path: "ClusterConfiguration.etcd.external",
			Message: "the main etcd is not kubeadm's, so its quota is not set, and the rollout's commands for it do not fit",
			Fix:     "give it the plan's quota where it is run",
		})
		return
	}
	own, _ := have["local"].(map[string]any)
	if args, ok := local["extraArgs"].(yamltext.Keyed); ok {
		local["extraArgs"] = m.arguments("etcd.local.extraArgs", target.Etcd, args, own["extraArgs"])
	}
}

// compare says where the cluster is not the profile's: what kubeadm decides once
// stays the cluster's.
func (m *merger) compare() {
	have := m.present.find("ClusterConfiguration").value
	network, _ := have["networking"].(map[string]any)
	etcd, _ := have["etcd"].(map[string]any)
	local, _ := etcd["local"].(map[string]any)
	main, _ := m.plan.Store("main")
	for _, c := range []struct {
		path       string
		have, want any
	}{
		{"etcd.local.dataDir", local["dataDir"], main.DataDir},
		{"controlPlaneEndpoint", have["controlPlaneEndpoint"], m.plan.ControlPlane.Endpoint},
		{"networking.podSubnet", network["podSubnet"], m.plan.ControlPlane.Network.PodCIDR},
		{"networking.serviceSubnet", network["serviceSubnet"], m.plan.ControlPlane.Network.ServiceCIDR},
	} {
		if !unset(c.have) && !unset(c.want) && c.have != c.want {
			m.say(finding.Finding{
				Code: "kubeadm-present-differs", Severity: finding.Warning, Path: "ClusterConfiguration." + c.path,
				Message: fmt.Sprintf("the cluster has %v and the plan %v: the cluster's stays, and the plan's manifests and commands have the plan's", c.have, c.want),
				Fix:     "correct the profile where it can say so, and read the rollout with this in mind",
			})
		}
	}
	m.compareImages(have)
	m.compareTiers(have)
}

// compareImages says that pods besides kubeadm's are pulled from upstream.
func (m *merger) compareImages(have map[string]any) {
	own, _ := have["imageRepository"].(string)
	if own == "" || own == upstreamImages || !besides(m.plan) {
		return
	}
	m.say(finding.Finding{
		Code: "kubeadm-image-repository", Severity: finding.Warning, Path: "ClusterConfiguration.imageRepository",
		Message: fmt.Sprintf("the cluster's images come from %s, those of the rendered manifests from %s", own, upstreamImages),
		Fix:     "set the images of manifests/ with --overlay",
	})
}

const upstreamImages = "registry.k8s.io"

// besides reports whether the plan has pods besides kubeadm's own.
func besides(p *plan.Plan) bool {
	return len(controlplane.ExtraStores(p))+len(controlplane.ExtraTiers(p))+len(p.ControllerGroups) > 0
}

// compareTiers says that apiservers of further tiers lack the cluster's own
// arguments: one without the encryption configuration writes Secrets in the clear.
func (m *merger) compareTiers(have map[string]any) {
	server, _ := have["apiServer"].(map[string]any)
	list, _ := server["extraArgs"].([]any)
	for _, t := range controlplane.ExtraTiers(m.plan) {
		flags := controlplane.TierFlags(m.plan, t)
		var missing []string
		for _, item := range list {
			arg, _ := item.(map[string]any)
			name, _ := arg["name"].(string)
			if _, set := flags[name]; !set && name != "" && !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
		}
		if len(missing) > 0 {
			m.say(finding.Finding{
				Code: "kubeadm-tier-arguments", Severity: finding.Warning, Path: "tiers." + t.Name,
				Message: fmt.Sprintf("the manifests of the tier %s lack arguments that kube-apiserver has here: %s", t.Name, strings.Join(missing, ", ")),
				Fix:     "add them, and the volumes that they need, with --overlay; without the same encryption configuration a tier cannot read Secrets and writes them in the clear",
			})
		}
	}
}
