package check

import (
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// isBelow reports whether a directory is another or lies below it.
func isBelow(dir, above string) bool {
	return above == "" || dir == above || strings.HasPrefix(dir, above+"/")
}

// hosts lists the directories that stand for hosts: those with pods in them,
// and without any those with configurations.
func (c *checker) hosts() []string {
	dirs := map[string]bool{}
	for _, p := range c.processes {
		if p.pod != nil && !p.byKubeadm {
			dirs[p.host] = true
		}
	}
	if len(dirs) == 0 {
		for _, p := range c.processes {
			dirs[p.host] = true
		}
	}
	return sortedKeys(dirs)
}

// on gives the processes with a pod on a host: its own, and those of the
// directories above it.
func (c *checker) on(host string) []*process {
	var here []*process
	for _, p := range c.processes {
		if p.pod != nil && isBelow(host, p.host) {
			here = append(here, p)
		}
	}
	return here
}

// judgeHosts wants what may be on a host only once to be there once.
func (c *checker) judgeHosts() {
	for _, host := range c.hosts() {
		here := c.on(host)
		for i, p := range here {
			for _, q := range here[:i] {
				c.judgeNeighbours(q, p)
			}
		}
	}
}

// judgeNeighbours judges two processes of one host; the second is where findings go.
func (c *checker) judgeNeighbours(first, second *process) {
	if first.pod != second.pod && first.podName == second.podName && namespace(first) == namespace(second) {
		c.at(second.doc, "metadata.name", finding.Finding{
			Code: "pod-name-conflict", Severity: finding.Error,
			Message: fmt.Sprintf("the pod %s stands twice on one host, here and in %s; the kubelet runs one of them", second.podName, first.doc.file),
			Fix:     "give each pod a name of its own",
		})
		return
	}
	c.judgePorts(first, second)
	c.judgeDataDirs(first, second)
}

func namespace(p *process) string {
	if p.pod.Namespace == "" {
		return "default"
	}
	return p.pod.Namespace
}

// listener is an address a process listens at, and the flag that says so.
type listener struct{ flag, host, port string }

// overlaps reports whether both could not be bound on one host.
func (l listener) overlaps(m listener) bool {
	return l.port == m.port && l.port != "0" && (l.host == m.host || anyAddress(l.host) || anyAddress(m.host))
}

func anyAddress(host string) bool { return host == "" || host == "0.0.0.0" || host == "::" }

// listeners are the addresses a process listens at.
func (p *process) listeners() []listener {
	switch p.component {
	case target.Etcd:
		var all []listener
		for _, flag := range []string{"listen-client-urls", "listen-peer-urls", "listen-metrics-urls", "listen-client-http-urls"} {
			for _, text := range p.list(flag, etcdDefaults[flag]) {
				if u, err := url.Parse(text); err == nil {
					all = append(all, listener{flag, u.Hostname(), u.Port()})
				}
			}
		}
		return all
	case target.KubeAPIServer, target.APIExtensionsServer:
		return p.securePort("443", "6443")
	case target.KubeControllerManager:
		return p.securePort("", "10257")
	case target.KubeScheduler:
		return p.securePort("", "10259")
	}
	return nil
}

// etcdDefaults are etcd's addresses where no flag names others.
var etcdDefaults = map[string]string{
	"listen-client-urls": "http://localhost:2379",
	"listen-peer-urls":   "http://localhost:2380",
}

// securePort is the address of a Kubernetes component.
func (p *process) securePort(aggregated, otherwise string) []listener {
	port, ok := p.flag("secure-port")
	if !ok {
		port = otherwise
		if p.component == target.APIExtensionsServer {
			port = aggregated
		}
	}
	host, _ := p.flag("bind-address")
	return []listener{{"secure-port", host, port}}
}

func (c *checker) judgePorts(first, second *process) {
	if !first.pod.Spec.HostNetwork || !second.pod.Spec.HostNetwork {
		return
	}
	for _, l := range second.listeners() {
		for _, m := range first.listeners() {
			if !l.overlaps(m) {
				continue
			}
			c.atFlag(second, l.flag, finding.Finding{
				Code: "port-conflict", Severity: finding.Error,
				Message: fmt.Sprintf("%s and %s of one host both listen at %s", second.podName, first.podName, net.JoinHostPort(l.host, l.port)),
				Fix:     "give one of them another port",
			})
			return
		}
	}
}

// judgeDataDirs wants two etcds of one host in directories of their own.
func (c *checker) judgeDataDirs(first, second *process) {
	if first.component != target.Etcd || second.component != target.Etcd {
		return
	}
	a, b := first.hostDataDir(), second.hostDataDir()
	if a == "" || b == "" || !isBelow(a, b) && !isBelow(b, a) {
		return
	}
	c.atFlag(second, "data-dir", finding.Finding{
		Code: "data-dir-conflict", Severity: finding.Error,
		Message: fmt.Sprintf("%s and %s of one host keep their data in %s and %s, one in the other", second.podName, first.podName, b, a),
		Fix:     "give each etcd a directory of its own",
	})
}

// hostDataDir is where on the host an etcd keeps its data; it is empty for
// data in memory, which is the pod's own.
func (p *process) hostDataDir() string {
	dir, ok := p.flag("data-dir")
	if !ok {
		return ""
	}
	mount, volume := p.volumeAt(dir)
	if volume == nil || volume.HostPath == nil {
		return ""
	}
	return path.Join(volume.HostPath.Path, strings.TrimPrefix(dir, strings.TrimSuffix(mount.MountPath, "/")))
}

// volumeAt finds the volume that a path of the process's container comes from.
func (p *process) volumeAt(file string) (corev1.VolumeMount, *corev1.Volume) {
	if p.pod == nil || p.container >= len(p.pod.Spec.Containers) {
		return corev1.VolumeMount{}, nil
	}
	var best corev1.VolumeMount
	for _, m := range p.pod.Spec.Containers[p.container].VolumeMounts {
		if isBelow(file, strings.TrimSuffix(m.MountPath, "/")) && len(m.MountPath) > len(best.MountPath) {
			best = m
		}
	}
	i := slices.IndexFunc(p.pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == best.Name })
	if i < 0 {
		return best, nil
	}
	return best, &p.pod.Spec.Volumes[i]
}
