package rig

import (
	"fmt"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/pki"
	"github.com/kubeseams/seams/internal/target"
)

// prepare puts everything in place that the pods refer to, and makes their
// processes.
func (r *Rig) prepare(m manifests) error {
	var err error
	if r.pki, err = pki.New(pki.Options{}); err != nil {
		return err
	}
	edits := map[string][]Change{}
	for _, h := range r.hosts {
		if err := r.credentials(h, m.pods); err != nil {
			return err
		}
		for name, f := range m.configs {
			changes, err := r.config(h, f)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			edits[name] = changes
		}
	}
	for _, p := range m.pods {
		if err := r.volumes(p); err != nil {
			return fmt.Errorf("%s@%s: %w", p.name, p.host, err)
		}
		made := r.process(p, edits)
		for _, s := range m.steady {
			if s.host == p.host && s.name == p.name {
				later := r.process(s, edits)
				made.first, made.steady = command{made.Argv, made.Changes}, command{later.Argv, later.Changes}
			}
		}
		r.processes = append(r.processes, made)
	}
	return r.administrator()
}

func (r *Rig) mapping(host string) mapping {
	m := mapping{hosts: map[string]string{}, dir: filepath.Join(r.dir, host)}
	for _, h := range r.hosts {
		m.hosts[h.Rendered] = h.Address
		if h.Name == host {
			m.local = h.Address
		}
	}
	return m
}

// credentials puts certificates, keys and kubeconfigs where the manifests of a
// host expect them.
func (r *Rig) credentials(h Host, pods []pod) error {
	spec := pki.Host{Name: h.Name, Address: h.Address}
	for _, p := range pods {
		if p.host != h.Name || !r.serves(p) {
			continue
		}
		if services, ok := flag(p.argv, "service-cluster-ip-range"); ok {
			first, _, _ := strings.Cut(services, ",")
			prefix, err := netip.ParsePrefix(first)
			if err != nil {
				return fmt.Errorf("%s@%s: --service-cluster-ip-range: %w", p.name, p.host, err)
			}
			spec.ServiceAddress = prefix.Masked().Addr().Next().String()
		}
		// The tier of everybody is the one that bears the program's own name.
		if spec.Server == "" || p.name == "kube-apiserver" {
			spec.Server = httpsURL(h.Address, securePort(p))
		}
	}
	if spec.Server == "" {
		// A host of etcds only has no components that would use a kubeconfig,
		// but for those of another host's apiserver.
		for _, p := range pods {
			if r.serves(p) {
				spec.Server = httpsURL(r.mapping(p.host).local, securePort(p))
				break
			}
		}
	}
	files, err := r.pki.Host(spec)
	if err != nil {
		return err
	}
	if err := pki.Write(filepath.Join(r.dir, h.Name, "etc", "kubernetes"), files); err != nil {
		return err
	}
	return r.tierCredentials(h, spec.Server)
}

// serves reports whether a pod is an apiserver of the cluster's own, and not a
// second one that serves a tier.
func (r *Rig) serves(p pod) bool {
	return path.Base(p.argv[0]) == target.KubeAPIServer && r.tierOfPod(p.name) == ""
}

func httpsURL(address string, port int) string {
	return "https://" + address + ":" + strconv.Itoa(port)
}

// config puts a rendered configuration file where the rollout has it put, with
// its paths and addresses mapped.
func (r *Rig) config(h Host, f file.File) ([]Change, error) {
	m := r.mapping(h.Name)
	var content any
	if err := yaml.Unmarshal(f.Data, &content); err != nil {
		return nil, err
	}
	var changes []Change
	content = r.mapValues(m, content, "", func(field, from, to, why string) {
		changes = append(changes, Change{What: f.Path + ": " + field, From: from, To: to, Why: why})
	})
	data, err := yaml.Marshal(content)
	if err != nil {
		return nil, err
	}
	name := m.onHost(configDir + "/" + f.Path)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.What, b.What) })
	return changes, os.WriteFile(name, data, 0o600)
}

// mapValues maps the texts of a document that are paths of a host or hold
// addresses.
func (r *Rig) mapValues(m mapping, value any, field string, changed func(field, from, to, why string)) any {
	switch v := value.(type) {
	case map[string]any:
		for name, item := range v {
			v[name] = r.mapValues(m, item, strings.TrimPrefix(field+"."+name, "."), changed)
		}
	case []any:
		for i, item := range v {
			v[i] = r.mapValues(m, item, fmt.Sprintf("%s[%d]", field, i), changed)
		}
	case string:
		etc := mount{inPod: "/etc/kubernetes", onHost: "/etc/kubernetes"}
		to, why := m.value(v, []mount{etc})
		if why != "" {
			changed(field, v, to, why)
		}
		return to
	}
	return value
}

// volumes makes the paths that a pod mounts, or fails, as their types say.
func (r *Rig) volumes(p pod) error {
	m := r.mapping(p.host)
	for _, v := range p.mounts {
		name := m.onHost(v.onHost)
		info, err := os.Stat(name)
		switch v.kind {
		case corev1.HostPathDirectoryOrCreate, corev1.HostPathUnset:
			if err := os.MkdirAll(name, 0o700); err != nil {
				return err
			}
		case corev1.HostPathFileOrCreate:
			if err != nil {
				return fmt.Errorf("%s is mounted and nothing puts it there: it would be an empty file", v.onHost)
			}
		case corev1.HostPathFile:
			if err != nil || !info.Mode().IsRegular() {
				return fmt.Errorf("%s is mounted and is not among the files", v.onHost)
			}
		case corev1.HostPathDirectory:
			if err != nil || !info.IsDir() {
				return fmt.Errorf("%s is mounted and is not among the files", v.onHost)
			}
		default:
			return fmt.Errorf("%s: the rig has no paths of type %s", v.onHost, v.kind)
		}
	}
	return nil
}

// process makes the process of a pod.
func (r *Rig) process(p pod, edits map[string][]Change) *Process {
	m := r.mapping(p.host)
	made := &Process{
		Name: p.name + "@" + p.host, Component: path.Base(p.argv[0]), Host: p.host, Image: p.image,
		LogPath: filepath.Join(r.LogDir(), p.name+"@"+p.host+".log"),
		rig:     r, grace: time.Duration(p.grace) * time.Second,
		probes: probes{startup: p.probes.startup.at(m.address), live: p.probes.live.at(m.address), ready: p.probes.ready.at(m.address)},
		env:    append(r.environment(), p.env...),
	}
	made.Argv, made.Changes = m.command(p, r.options.Bin.Path(p.argv[0]))
	for _, v := range p.mounts {
		made.Changes = append(made.Changes, edits[strings.TrimPrefix(v.onHost, configDir+"/")]...)
	}
	if made.Tier = r.tierOfPod(p.name); made.Tier != "" {
		for _, f := range r.tiers[r.tierIndex(made.Tier)].kubeconfigs {
			made.Changes = append(made.Changes, Change{What: "/etc/kubernetes/pki/" + f.Path + ": server", To: "the apiserver of " + p.host, Why: whyOwnServer})
		}
	}
	if made.Component == "etcd" {
		made.Store = storeOf(p.name)
		made.dataDir, _ = flag(made.Argv, "data-dir")
		if metrics, ok := flag(made.Argv, "listen-metrics-urls"); ok {
			first, _, _ := strings.Cut(metrics, ",")
			made.MetricsURL = first + "/metrics"
		}
	} else if port := securePort(p); port > 0 {
		made.MetricsURL = httpsURL(m.local, port) + "/metrics"
	}
	return made
}

// storeOf is the store of an etcd's pod: main for etcd, events for etcd-events.
func storeOf(name string) string {
	if store, ok := strings.CutPrefix(name, "etcd-"); ok {
		return store
	}
	return "main"
}

// environment is what every process has: that of an image with nothing set.
func (r *Rig) environment() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=" + filepath.Join(r.dir, "tmp")}
}
