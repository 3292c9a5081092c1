package controlplane

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// The share that priority and fairness gives the requests of tiers is cut out
// of a server's seats, and these are the seats of a server that has no other
// requests: twice upstream's 400 and 200 is still less than what the groups had
// of a main apiserver.
const (
	aggregatedInflight         = 1200
	aggregatedMutatingInflight = 600
)

// AggregatedPaths are where a tier's server finds its keys, and its etcd.
type AggregatedPaths struct {
	// Dir holds server.crt, server.key, etcd-client.crt and etcd-client.key.
	Dir string
	// EtcdCA is the authority of the etcd's own certificates.
	EtcdCA string
	// Kubeconfig leads to kube-apiserver; empty for the ServiceAccount of a pod.
	Kubeconfig string
	// EtcdServers are the client URLs of all members.
	EtcdServers []string
	// ClientCA and FrontProxyCA are the cluster's authorities, and Reviews is the
	// directory of the kubeconfigs of Reviews: for a second kube-apiserver, which
	// reads nothing of it from the API.
	ClientCA, FrontProxyCA, Reviews string
}

// AggregatedFlags are the flags of a tier's server. Authentication and
// authorization are kube-apiserver's: who a request is from comes with the
// front proxy's certificate, which the server looks up, and whether it may is
// asked by SubjectAccessReview.
func AggregatedFlags(p *plan.Plan, t plan.AggregatedTier, at AggregatedPaths) Flags {
	flags := Flags{
		"etcd-servers":                   strings.Join(at.EtcdServers, ","),
		"etcd-prefix":                    "/registry",
		"etcd-cafile":                    at.EtcdCA,
		"etcd-certfile":                  at.Dir + "/etcd-client.crt",
		"etcd-keyfile":                   at.Dir + "/etcd-client.key",
		"secure-port":                    strconv.Itoa(t.Port),
		"tls-cert-file":                  at.Dir + "/server.crt",
		"tls-private-key-file":           at.Dir + "/server.key",
		"max-requests-inflight":          strconv.Itoa(aggregatedInflight),
		"max-mutating-requests-inflight": strconv.Itoa(aggregatedMutatingInflight),
	}
	if t.Second() {
		flags = flags.With(secondFlags(t, at))
	} else if at.Kubeconfig != "" {
		for _, name := range []string{"kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"} {
			flags[name] = at.Kubeconfig
		}
	}
	if interval := MainTier(p).Flags["etcd-compaction-interval"]; interval != "" {
		flags["etcd-compaction-interval"] = interval
	}
	var uncached []string
	for _, r := range t.Uncached {
		uncached = append(uncached, r.Resource+"."+r.Group+"#0")
	}
	if len(uncached) > 0 {
		flags["watch-cache-sizes"] = strings.Join(uncached, ",")
	}
	return flags
}

// Places of a static tier on a host.
const (
	// AggregatedDir holds the keys of tiers, in a directory for each.
	AggregatedDir = PKIDir + "/aggregated"
	// AggregatedEtcdClients is the file of authorities that the etcds of static
	// tiers trust: that of the tiers' clients, and main's for whoever keeps the
	// etcds of the host.
	AggregatedEtcdClients = PKIDir + "/" + plan.AggregatedEtcdClients + ".crt"
	// AggregatedKubeconfig is the name of a tier's kubeconfig in its directory.
	AggregatedKubeconfig = "server.kubeconfig"
)

// AggregatedPod is the static pod of a tier's server on a host. It sees the
// keys of its tier and none of kube-apiserver's.
func AggregatedPod(p *plan.Plan, t plan.AggregatedTier, h profile.Host) (*corev1.Pod, error) {
	s, ok := p.Store(t.Store)
	if !ok {
		return nil, fmt.Errorf("aggregated tier %s: its store %s is not in the plan", t.Name, t.Store)
	}
	dir := AggregatedDir + "/" + t.Name
	flags := AggregatedFlags(p, t, AggregatedPaths{
		Dir: dir, EtcdCA: PKIDir + "/etcd/ca.crt", Kubeconfig: dir + "/" + AggregatedKubeconfig, EtcdServers: clientURLs(p, s),
		ClientCA: PKIDir + "/ca.crt", FrontProxyCA: PKIDir + "/front-proxy-ca.crt", Reviews: dir,
	})
	if isIP(h.Address) {
		flags["bind-address"] = h.Address
	}
	return component{
		name:      t.ServerName(),
		container: t.Server,
		image:     AggregatedImage(p, t),
		command:   flags.Command(t.Server),
		port:      t.Port,
		host:      probeHost(h),
		scheme:    corev1.URISchemeHTTPS,
		probes:    ProbePaths{Live: "/livez", Ready: "/readyz", Start: "/livez"},
		cpu:       "250m",
		memory:    AggregatedMemory(t),
		// kube-apiserver finds a webhook's Service by the API, and this server by
		// its name in the cluster's DNS (apiserver pkg/util/webhook
		// NewDefaultServiceResolver). Names of the host's own resolve as well.
		dns: corev1.DNSClusterFirstWithHostNet,
		// The keys are root's alone, as kubeadm's are, and an image has a user of its
		// own: the rendered one's is nobody.
		asRoot: true,
		mounts: append([]mount{
			{name: "ca", path: PKIDir + "/ca.crt", kind: corev1.HostPathFile, readOnly: true},
			{name: "etcd-ca", path: PKIDir + "/etcd/ca.crt", kind: corev1.HostPathFile, readOnly: true},
			{name: "tier", path: dir, kind: corev1.HostPathDirectory, readOnly: true},
		}, secondMounts(t)...),
	}.pod(), nil
}

// leastMemory is that of a server which holds nothing.
const leastMemory = 128 << 20

// AggregatedMemory is what a tier's server asks for: the estimated live heap
// of its groups, in whole MiB. It has no limit, since a server that lists after
// a restart takes twice that and would never come back.
func AggregatedMemory(t plan.AggregatedTier) string {
	return strconv.FormatInt(int64(max(t.ResidentBytes, leastMemory))>>20, 10) + "Mi"
}

// isAggregated reports whether a store is a static tier's.
func isAggregated(p *plan.Plan, s plan.Store) bool {
	for _, t := range p.Aggregated {
		if t.Store == s.Name && t.Form == plan.StaticForm {
			return true
		}
	}
	return false
}

// EtcdImage is upstream's image of the etcd that goes with the plan's version.
func EtcdImage(p *plan.Plan) string {
	return ImageRepository + "/etcd:" + target.EtcdVersion(p.Target.Kubernetes)
}
