package rollout

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/plan"
)

// commands writes the command lines of a plan's steps.
type commands struct{ plan *plan.Plan }

func (c commands) address(host string) string {
	if h, ok := c.plan.Host(host); ok && h.Address != "" {
		return h.Address
	}
	return host
}

// ssh runs a command on a host. Without -n it would take the lines after it for
// the command's input, where they are pasted or read from a file.
func (c commands) ssh(host, command string) string {
	return "ssh -n root@" + c.address(host) + " '" + command + "'"
}

func (c commands) scp(host, to string, files ...string) string {
	address := c.address(host)
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() {
		address = "[" + address + "]"
	}
	return "scp -r " + strings.Join(files, " ") + " root@" + address + ":" + to + "/"
}

// manifests copies a host's manifests, by name, to where the kubelet looks.
func (c commands) manifests(dir, host string, names ...string) string {
	var files []string
	for _, n := range names {
		files = append(files, dir+"/"+host+"/"+n+".yaml")
	}
	return c.scp(host, controlplane.ManifestsDir, files...)
}

// ready waits for a static pod, which is unknown until the kubelet has read its manifest.
func ready(pod, host string) string {
	name := "pod/" + pod + "-" + host
	return "kubectl -n kube-system wait --for=create " + name + " --timeout=180s && kubectl -n kube-system wait --for=condition=Ready " + name + " --timeout=300s"
}

// etcdctl runs etcdctl in the pod of a store's member.
func etcdctl(s plan.Store, host, args string) string {
	pki := controlplane.PKIDir + "/etcd/"
	return fmt.Sprintf("kubectl -n kube-system exec %s-%s -- etcdctl --endpoints=https://localhost:%d --cacert=%sca.crt --cert=%sserver.crt --key=%sserver.key %s",
		controlplane.EtcdName(s), host, s.ClientPort, pki, pki, pki, args)
}

// function defines a shell function that runs etcdctl in a store's first member, and gives its name.
func function(s plan.Store) (name, definition string) {
	name = "etcdctl_" + strings.ReplaceAll(s.Name, "-", "_")
	return name, name + "() { " + etcdctl(s, s.Members[0], `"$@"`) + "; }"
}

// addMember brings a further member into a store: as a learner, which has no
// vote until it has caught up, so that a member that never starts costs no
// majority. A learner is never ready (etcd's /readyz says non_learner), so the
// pod is waited for after the promotion, which fails until it has started.
func (c commands) addMember(s plan.Store, host string, install ...string) []string {
	etcdctl, definition := function(s)
	lines := []string{definition, etcdctl + " member add " + host + " --learner --peer-urls=" + controlplane.PeerURL(c.plan, s, host)}
	lines = append(lines, install...)
	return append(lines,
		fmt.Sprintf(`until %s member promote "$(%s member list | grep ", %s," | cut -d, -f1)"; do sleep 2; done`, etcdctl, etcdctl, host),
		ready(controlplane.EtcdName(s), host))
}

// tmpfs mounts the memory of a store on a host, now and at every start, with a
// bound: without one its growth would take the space that the container
// runtime needs below the same directory.
func (c commands) tmpfs(s plan.Store, host string) string {
	dir := controlplane.DataDir(s)
	return c.ssh(host, fmt.Sprintf(`grep -q " %s " /etc/fstab || echo "tmpfs %s tmpfs size=%d,mode=0700,nosuid,nodev,noexec,x-mount.mkdir 0 0" >> /etc/fstab; mkdir -p %s && mount %s`,
		dir, dir, controlplane.MemoryLimit(s), dir, dir))
}

// readyz asks one apiserver, past any load balancer, as the probes do.
func (c commands) readyz(host string, port int) string {
	h, _ := c.plan.Host(host)
	h.Address = c.address(host)
	return "kubectl --server=" + controlplane.URL(h, port) + " get --raw='" + controlplane.Probes(c.plan).Ready + "'"
}
