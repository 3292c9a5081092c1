package controlplane

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
)

// DefaultAPIServerPort is kubeadm's, for a tier without a port.
const DefaultAPIServerPort = 6443

// NodeTier is the name of the tier that kubelets and kube-proxies talk to.
const NodeTier = "nodes"

// MainTier is the apiservers everybody talks to; Hosts sees to it that a plan has them.
func MainTier(p *plan.Plan) plan.Tier {
	for _, t := range p.Tiers {
		if t.Name == "main" {
			return t
		}
	}
	return plan.Tier{}
}

// ExtraTiers are the tiers besides main.
func ExtraTiers(p *plan.Plan) []plan.Tier {
	var tiers []plan.Tier
	for _, t := range p.Tiers {
		if t.Name != "main" {
			tiers = append(tiers, t)
		}
	}
	return tiers
}

// Port is a tier's secure port.
func Port(t plan.Tier) int {
	if t.Port == 0 {
		return DefaultAPIServerPort
	}
	return t.Port
}

// TierFlags are the flags that the plan asks of a tier beyond what its
// installer sets: the plan's own, the gates, the stores and the caches.
func TierFlags(p *plan.Plan, t plan.Tier) Flags {
	flags := Flags(t.Flags).With()
	flags.joinGates(t.FeatureGates)
	flags.joinUncached(t)
	if overrides := Overrides(p); overrides != "" {
		flags["etcd-servers-overrides"] = overrides
	}
	if t.Name != "main" {
		// A tier of its own audience stays out of the endpoints of the
		// Service kubernetes, which every pod of the cluster uses.
		if _, ok := flags["endpoint-reconciler-type"]; !ok {
			flags["endpoint-reconciler-type"] = "none"
		}
	}
	return flags
}

// APIServer is the static pod of a tier on a host. Under kubeadm the main tier
// is kubeadm's own; the others take its certificates and keys.
func APIServer(p *plan.Plan, t plan.Tier, h profile.Host, etcdServers []string) *corev1.Pod {
	name := APIServerName(t)
	return component{
		name:      name,
		container: "kube-apiserver",
		image:     image("kube-apiserver", p.Target.Kubernetes.String()),
		command:   apiserverBase(p, t, h, etcdServers).With(TierFlags(p, t)).Command("kube-apiserver"),
		env:       t.Env,
		port:      Port(t),
		host:      probeHost(h),
		scheme:    corev1.URISchemeHTTPS,
		probes:    Probes(p),
		cpu:       "250m",
		mounts: []mount{
			{name: "ca-certs", path: "/etc/ssl/certs", kind: corev1.HostPathDirectoryOrCreate, readOnly: true},
			{name: "k8s-certs", path: PKIDir, kind: corev1.HostPathDirectoryOrCreate, readOnly: true},
		},
	}.pod()
}

// APIServerName is the pod of a tier: kube-apiserver for main, kube-apiserver-NAME for the others.
func APIServerName(t plan.Tier) string {
	if t.Name == "main" {
		return "kube-apiserver"
	}
	return "kube-apiserver-" + t.Name
}

// LocalEtcd are the servers of main as an apiserver beside a member sees them:
// that member alone, as kubeadm has it, or all of them from a host without one.
func LocalEtcd(p *plan.Plan, host profile.Host) []string {
	main, _ := p.Store("main")
	for _, m := range main.Members {
		if m == host.Name {
			return []string{https(loopback(host.Address), main.ClientPort)}
		}
	}
	return clientURLs(p, main)
}

// AllEtcd are all the servers of main.
func AllEtcd(p *plan.Plan) []string {
	main, _ := p.Store("main")
	return clientURLs(p, main)
}

func probeHost(h profile.Host) string {
	if isIP(h.Address) {
		return h.Address
	}
	return "127.0.0.1"
}

// apiserverBase are the flags that every kube-apiserver of a kubeadm-shaped
// host has; a test holds them against kubeadm's own rendering.
func apiserverBase(p *plan.Plan, t plan.Tier, h profile.Host, etcdServers []string) Flags {
	flags := Flags{
		"allow-privileged":                   "true",
		"authorization-mode":                 "Node,RBAC",
		"client-ca-file":                     PKIDir + "/ca.crt",
		"enable-admission-plugins":           "NodeRestriction",
		"enable-bootstrap-token-auth":        "true",
		"etcd-cafile":                        PKIDir + "/etcd/ca.crt",
		"etcd-certfile":                      PKIDir + "/apiserver-etcd-client.crt",
		"etcd-keyfile":                       PKIDir + "/apiserver-etcd-client.key",
		"etcd-servers":                       strings.Join(etcdServers, ","),
		"kubelet-client-certificate":         PKIDir + "/apiserver-kubelet-client.crt",
		"kubelet-client-key":                 PKIDir + "/apiserver-kubelet-client.key",
		"kubelet-preferred-address-types":    "InternalIP,ExternalIP,Hostname",
		"proxy-client-cert-file":             PKIDir + "/front-proxy-client.crt",
		"proxy-client-key-file":              PKIDir + "/front-proxy-client.key",
		"requestheader-allowed-names":        "front-proxy-client",
		"requestheader-client-ca-file":       PKIDir + "/front-proxy-ca.crt",
		"requestheader-extra-headers-prefix": "X-Remote-Extra-",
		"requestheader-group-headers":        "X-Remote-Group",
		"requestheader-username-headers":     "X-Remote-User",
		"secure-port":                        strconv.Itoa(Port(t)),
		"service-account-issuer":             clusterIssuer,
		"service-account-key-file":           PKIDir + "/sa.pub",
		"service-account-signing-key-file":   PKIDir + "/sa.key",
		"service-cluster-ip-range":           ServiceCIDR(p),
		"tls-cert-file":                      PKIDir + "/apiserver.crt",
		"tls-private-key-file":               PKIDir + "/apiserver.key",
	}
	if isIP(h.Address) {
		flags["advertise-address"] = h.Address
	}
	return flags
}

// ServiceCIDR is the plan's range of Service addresses, or kubeadm's.
func ServiceCIDR(p *plan.Plan) string {
	if c := p.ControlPlane.Network.ServiceCIDR; c != "" {
		return c
	}
	return DefaultServiceCIDR
}
