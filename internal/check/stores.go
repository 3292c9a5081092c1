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

const refOneCA = "https://github.com/kubernetes/kubernetes/issues/57440"

// endpoint is a client URL of an etcd and whose it is.
type endpoint struct {
	scheme, host, port string
	process            *process
}

// stores lists where the etcds of the files can be reached.
func (c *checker) stores() []endpoint {
	var all []endpoint
	for _, p := range c.of(target.Etcd) {
		if p.pod == nil {
			continue
		}
		for _, flag := range []string{"listen-client-urls", "advertise-client-urls"} {
			for _, text := range p.list(flag, etcdDefaults[flag]) {
				if u, err := url.Parse(text); err == nil {
					all = append(all, endpoint{u.Scheme, u.Hostname(), u.Port(), p})
				}
			}
		}
		if !p.byKubeadm {
			continue
		}
		// The hosts that join run kubeadm's etcd at their own addresses.
		for _, join := range c.joins {
			if cp := join.joinConfig.ControlPlane; cp != nil {
				all = append(all, endpoint{"https", cp.LocalAPIEndpoint.AdvertiseAddress, "2379", p})
			}
		}
	}
	return all
}

// answering finds the endpoints that a server URL of an apiserver on a host leads to.
func answering(stores []endpoint, from *process, server string) []endpoint {
	u, err := url.Parse(server)
	if err != nil {
		return nil
	}
	var found []endpoint
	for _, e := range stores {
		if e.port != u.Port() {
			continue
		}
		local := loopback(u.Hostname())
		switch {
		case local && !sameHost(from, e.process):
		case e.host == u.Hostname(), loopback(e.host) && local, anyAddress(e.host):
			found = append(found, e)
		}
	}
	return found
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// sameHost reports whether two processes may stand on one host.
func sameHost(a, b *process) bool { return isBelow(a.host, b.host) || isBelow(b.host, a.host) }

// judgeRoutes wants every server of an override to be an etcd of the files.
func (c *checker) judgeRoutes(p *process, stores []endpoint) {
	own := slices.ContainsFunc(stores, func(e endpoint) bool { return !e.process.byKubeadm })
	said := map[string]bool{}
	for _, o := range p.overrides() {
		for _, server := range o.Servers {
			found := answering(stores, p, server)
			if said[server] {
				continue
			}
			said[server] = true
			scheme, _, _ := strings.Cut(server, "://")
			switch {
			case len(found) == 0 && !c.wouldSee(p, stores, server):
			case len(found) == 0 && own:
				c.atRoute(p, o.Key(), finding.Finding{
					Code: "route-without-store", Severity: finding.Error,
					Message: fmt.Sprintf("%s is routed to %s, where no etcd of the files listens", o.Key(), server),
					Fix:     "name the client URLs of the etcd that is meant",
				})
			case len(found) == 0:
				c.atRoute(p, o.Key(), finding.Finding{
					Code: "route-store-elsewhere", Severity: finding.Warning,
					Message: fmt.Sprintf("%s is routed to %s, and no etcd for it is among the files", o.Key(), server),
				})
			case !slices.ContainsFunc(found, func(e endpoint) bool { return e.scheme == scheme }):
				c.atRoute(p, o.Key(), finding.Finding{
					Code: "route-scheme-differs", Severity: finding.Error,
					Message: fmt.Sprintf("%s is routed to %s, where %s speaks %s", o.Key(), server, found[0].process, found[0].scheme),
					Fix:     "write " + found[0].scheme + "://",
				})
			}
		}
	}
}

// judgeEtcdServers: an apiserver off its etcd's host must name all members,
// or it is lost with the one it names.
func (c *checker) judgeEtcdServers(p *process, stores []endpoint) {
	a, ok := p.arg("etcd-servers")
	if !ok || !a.own || p.byKubeadm {
		return
	}
	servers := strings.Split(a.value, ",")
	for _, server := range servers {
		u, err := url.Parse(server)
		if err != nil || !loopback(u.Hostname()) || len(answering(stores, p, server)) > 0 || !c.wouldSee(p, stores, server) {
			continue
		}
		c.atFlag(p, "etcd-servers", finding.Finding{
			Code: "etcd-server-not-here", Severity: finding.Error,
			Message: fmt.Sprintf("%s asks for an etcd at %s, and none of the files runs on its host", p, server),
			Fix:     "list the client URLs of all members", Ref: "https://github.com/scality/metalk8s/issues/2080",
		})
		return
	}
	if len(servers) != 1 {
		return
	}
	found := answering(stores, p, servers[0])
	if c.existing && len(found) == 0 {
		c.judgeOneServer(p, servers[0])
	}
	if len(found) == 0 || sameHost(p, found[0].process) {
		return
	}
	if members := len(found[0].process.list("initial-cluster", "")); members > 1 {
		c.atFlag(p, "etcd-servers", finding.Finding{
			Code: "etcd-servers-incomplete", Severity: finding.Error,
			Message: fmt.Sprintf("%s names one of %d members of etcd, on another host, and is lost with it", p, members),
			Fix:     "list the client URLs of all members", Ref: "https://github.com/scality/metalk8s/issues/2080",
		})
	}
}

// judgeTLS: an apiserver has one CA and one client certificate for all its etcds.
func (c *checker) judgeTLS(p *process, stores []endpoint) {
	if !p.complete {
		return
	}
	ca, hasCA := p.flag("etcd-cafile")
	_, hasCert := p.flag("etcd-certfile")
	said := map[*process]bool{}
	for _, o := range p.overrides() {
		for _, server := range o.Servers {
			if strings.HasPrefix(server, "https://") && (!hasCA || !hasCert) {
				c.atRoute(p, o.Key(), finding.Finding{
					Code: "etcd-tls-missing", Severity: finding.Error,
					Message: fmt.Sprintf("%s is reached over TLS, and %s has no --etcd-cafile or no --etcd-certfile for it", server, p),
					Fix:     "set --etcd-cafile, --etcd-certfile and --etcd-keyfile", Ref: refOneCA,
				})
				return
			}
			for _, e := range answering(stores, p, server) {
				trusted, ok := e.process.flag("trusted-ca-file")
				if !ok || !hasCA || trusted == ca || said[e.process] {
					continue
				}
				said[e.process] = true
				c.atFlag(e.process, "trusted-ca-file", finding.Finding{
					Code: "etcd-ca-differs", Severity: finding.Error,
					Message: fmt.Sprintf("%s trusts %s, and kube-apiserver has one CA (%s) and one client certificate for all etcds", e.process, trusted, ca),
					Fix:     "sign all etcds with one CA, or give kube-apiserver a bundle of CAs and a certificate that each etcd trusts", Ref: refOneCA,
				})
			}
		}
	}
}

// judgeEtcds judges each etcd cluster of the files as a whole.
func (c *checker) judgeEtcds() {
	groups := map[string][]*process{}
	for _, p := range c.of(target.Etcd) {
		if p.pod != nil {
			c.judgeMember(p)
			key := path.Dir(p.host) + " " + p.podName
			groups[key] = append(groups[key], p)
		}
	}
	tokens := map[string]*process{}
	for _, key := range sortedKeys(groups) {
		members := groups[key]
		c.judgeCount(members)
		token, ok := members[0].flag("initial-cluster-token")
		if !ok {
			continue
		}
		if other := tokens[token]; other != nil && other.podName != members[0].podName {
			c.atFlag(members[0], "initial-cluster-token", finding.Finding{
				Code: "etcd-token-shared", Severity: finding.Error,
				Message: fmt.Sprintf("%s and %s have one cluster token, by which etcd tells clusters apart", members[0].podName, other.podName),
				Fix:     "give each cluster a token of its own",
			})
		}
		tokens[token] = members[0]
	}
}

// judgeMember judges one member: it has to be in its own initial cluster, and
// its data on a volume.
func (c *checker) judgeMember(p *process) {
	name, ok := p.flag("name")
	peer, _ := p.flag("initial-advertise-peer-urls")
	cluster := p.list("initial-cluster", "")
	if ok && len(cluster) > 0 && !slices.ContainsFunc(cluster, func(m string) bool { return m == memberFor(m, name, peer) }) {
		c.atFlag(p, "initial-cluster", finding.Finding{
			Code: "etcd-not-in-cluster", Severity: finding.Error,
			Message: fmt.Sprintf("the initial cluster has no member %s=%s, which is this one: etcd refuses to start", name, peer),
			Fix:     "add it", Ref: "go.etcd.io/etcd server/config/config.go, VerifyBootstrap",
		})
	}
	dir, ok := p.flag("data-dir")
	if !ok || p.byKubeadm {
		return
	}
	if _, volume := p.volumeAt(dir); volume == nil {
		c.atFlag(p, "data-dir", finding.Finding{
			Code: "data-dir-not-mounted", Severity: finding.Error,
			Message: fmt.Sprintf("%s is in no volume, so that the data is lost with the container", dir),
			Fix:     "mount a hostPath there, or an emptyDir in memory for data that may be lost",
		})
	}
}

// memberFor is NAME=URL of a process that may be the given member. Of a
// StatefulSet the name is a variable, $(POD_NAME), which each pod fills in.
func memberFor(member, name, peer string) string {
	if strings.HasPrefix(name, "$(") && strings.HasSuffix(name, ")") {
		self, _, _ := strings.Cut(member, "=")
		return self + "=" + strings.ReplaceAll(peer, name, self)
	}
	return name + "=" + peer
}

// judgeCount wants an odd number of members: an even one tolerates no more
// failures than one less, and has more members that can fail.
func (c *checker) judgeCount(members []*process) {
	n := len(members)
	for _, p := range members {
		n = max(n, len(p.list("initial-cluster", "")))
	}
	p := members[0]
	if p.byKubeadm {
		n = max(n, c.controlPlanes(p.host), c.kindControlPlanes)
	}
	if n%2 == 1 {
		return
	}
	c.atFlag(p, "initial-cluster", finding.Finding{
		Code: "etcd-even-members", Severity: finding.Warning,
		Message: fmt.Sprintf("%s has %d members: it survives the loss of as few as with %d", p.podName, n, n-1),
		Fix:     "use an odd number of members",
	})
}

// inMemory reports whether an etcd's data is gone with its pod, or its writes
// do not wait for the disk.
func (p *process) inMemory() bool {
	if unsafe, ok := p.flag("unsafe-no-fsync"); ok && unsafe != "false" {
		return true
	}
	dir, ok := p.flag("data-dir")
	if !ok {
		return false
	}
	_, volume := p.volumeAt(dir)
	if volume != nil && volume.EmptyDir != nil {
		return volume.EmptyDir.Medium == corev1.StorageMediumMemory
	}
	host := p.hostDataDir()
	return isBelow(host, "/run") || isBelow(host, "/dev/shm")
}
