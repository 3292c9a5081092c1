package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/override"
	"github.com/kubeseams/seams/internal/target"
)

// judgeTogether judges what must hold between the files.
func (c *checker) judgeTogether() {
	c.judgeHosts()
	c.judgeLabels()
	c.judgeEtcds()
	servers := c.mains()
	c.judgeSameOverrides(servers)
	stores := c.stores()
	for _, p := range servers {
		c.judgeRoutes(p, stores)
		c.judgeEtcdServers(p, stores)
		c.judgeTLS(p, stores)
		c.judgeProbes(p, stores)
		c.judgeGoaway(p)
	}
	c.judgeLeases()
}

// of gives the processes of a component.
func (c *checker) of(component string) []*process {
	var all []*process
	for _, p := range c.processes {
		if p.component == component {
			all = append(all, p)
		}
	}
	return all
}

// mains are the kube-apiservers of the cluster itself. One that does without
// the admission of namespaces has none, and serves a tier behind the others:
// its stores and resources are its own.
func (c *checker) mains() []*process {
	return slices.DeleteFunc(c.of(target.KubeAPIServer), func(p *process) bool {
		return slices.Contains(p.list("disable-admission-plugins", ""), "NamespaceLifecycle")
	})
}

// controlPlanes counts the hosts on which kubeadm runs a control plane by the
// configurations in a directory: one that is initialised and those that join.
func (c *checker) controlPlanes(dir string) int {
	n := 1
	for _, join := range c.joins {
		if dirOf(join.name) == dir && join.joinConfig.ControlPlane != nil {
			n++
		}
	}
	return n
}

// apiservers counts the kube-apiservers of the files.
func (c *checker) apiservers() int {
	n := 0
	for _, p := range c.mains() {
		if p.byKubeadm {
			n += max(c.controlPlanes(p.host), c.kindControlPlanes)
		} else {
			n++
		}
	}
	return n
}

// judgeSameOverrides wants one answer to where a resource is stored: an
// apiserver that has another does not see what the others write.
func (c *checker) judgeSameOverrides(servers []*process) {
	var first *process
	for _, p := range servers {
		if _, ok := p.flag(override.Flag); !ok && !p.complete {
			continue
		}
		if first == nil {
			first = p
			continue
		}
		if slices.Equal(routes(first.overrides()), routes(p.overrides())) {
			continue
		}
		a, b := override.Format(first.overrides()), override.Format(p.overrides())
		f := finding.Finding{
			Code: "overrides-differ", Severity: finding.Error,
			Message: fmt.Sprintf("%s has the overrides %q, and %s has %q: they do not see each other's objects", p, b, first, a),
			Fix:     "give every kube-apiserver the same value",
		}
		if sameRoutes(first.overrides(), p.overrides()) {
			f.Severity, f.Code = finding.Warning, "overrides-order"
			f.Message = fmt.Sprintf("%s has the same overrides as %s in another order: their health checks are numbered by it, and one probe path does not fit both", p, first)
		}
		c.atFlag(p, override.Flag, f)
	}
}

// routes writes overrides so that the order of a store's servers, which makes
// no difference, does not show.
func routes(overrides []override.Override) []string {
	var all []string
	for _, o := range overrides {
		all = append(all, o.Key()+"#"+serverKey(o.Servers))
	}
	return all
}

func sameRoutes(a, b []override.Override) bool {
	return slices.Equal(slices.Sorted(slices.Values(routes(a))), slices.Sorted(slices.Values(routes(b))))
}

// judgeGoaway: closing connections at random moves clients to another
// apiserver, and there must be one.
func (c *checker) judgeGoaway(p *process) {
	chance, ok := p.flag("goaway-chance")
	if !ok || chance == "0" || c.existing || c.apiservers() > 1 {
		return
	}
	c.atFlag(p, "goaway-chance", finding.Finding{
		Code: "goaway-single-apiserver", Severity: finding.Error,
		Message: "with a single kube-apiserver, --goaway-chance only makes clients reconnect to where they were",
		Fix:     "remove it", Ref: "k8s.io/apiserver pkg/server/options/server_run_options.go",
	})
}

// kubeadmLabels are the labels by which kubeadm finds its own static pods.
var kubeadmLabels = map[string]string{target.Etcd: "etcd", target.KubeAPIServer: "kube-apiserver"}

// judgeLabels: kubeadm finds the members of its etcd and its apiserver by two
// labels, and breaks when another pod has both.
func (c *checker) judgeLabels() {
	if c.target.Platform != target.Kubeadm && c.target.Platform != target.Kind && len(c.clusters) == 0 {
		return
	}
	for _, p := range c.processes {
		if p.pod == nil || p.byKubeadm {
			continue
		}
		name, ok := kubeadmLabels[p.component]
		labels := p.pod.Labels
		if !ok || labels["component"] != name || labels["tier"] != "control-plane" || p.podName == name {
			continue
		}
		c.at(p.doc, "metadata.labels", finding.Finding{
			Code: "kubeadm-labels", Severity: finding.Error,
			Message: fmt.Sprintf("kubeadm takes a pod with the labels component=%s and tier=control-plane for its own %s", name, name),
			Fix:     "write component: " + p.podName, Ref: "kubernetes cmd/kubeadm/app/util/etcd, cmd/kubeadm/app/util/config/cluster.go",
		})
	}
}

// Upstream's defaults of node liveness: KubeletConfiguration and
// kube-controller-manager (pkg/controller/nodelifecycle/config/v1alpha1/defaults.go).
const (
	defaultLease = 40 * time.Second
	defaultGrace = 50 * time.Second
	// renewals is how many a lease's duration is divided into (pkg/kubelet/kubelet.go, nodeLeaseRenewIntervalFraction).
	renewals = 4
	// pingTimeout is after how long a client notices a dead connection: HTTP/2
	// read idle of 30 s and ping of 15 s (kubernetes/kubernetes#121793).
	pingTimeout = 45 * time.Second
)

// judgeLeases wants a node to miss more than one renewal before it is given up.
func (c *checker) judgeLeases() {
	grace := defaultGrace
	var manager *process
	for _, p := range c.of(target.KubeControllerManager) {
		if text, ok := p.flag("node-monitor-grace-period"); ok {
			if d, err := time.ParseDuration(text); err == nil {
				grace, manager = d, p
			}
		}
	}
	lease, doc := defaultLease, (*document)(nil)
	for _, k := range c.kubelets {
		if s := k.config.NodeLeaseDurationSeconds; s > 0 {
			lease, doc = max(lease, time.Duration(s)*time.Second), k.doc
		}
	}
	renew := lease / renewals
	f := finding.Finding{
		Code: "lease-misses-grace", Severity: finding.Error,
		Message: fmt.Sprintf("a node renews its lease every %s and is given up after %s: one late renewal makes it NotReady", renew, grace),
		Fix:     fmt.Sprintf("give kube-controller-manager --node-monitor-grace-period=%s or more", 5*renew),
		Ref:     "https://github.com/kubernetes/kubernetes/issues/121793",
	}
	if c.existing && manager == nil {
		f.Severity = finding.Warning // the grace period may be set in a file that is not here
	}
	switch {
	case manager == nil && doc == nil:
	case grace < 2*renew && manager != nil:
		c.atFlag(manager, "node-monitor-grace-period", f)
	case grace < 2*renew:
		c.at(doc, "nodeLeaseDurationSeconds", f)
	case manager != nil && grace <= pingTimeout:
		f.Code, f.Severity = "grace-below-ping-timeout", finding.Warning
		f.Message = fmt.Sprintf("nodes are given up after %s, before a kubelet can notice a dead connection (%s)", grace, pingTimeout)
		f.Fix = "write 50s, upstream's default"
		c.atFlag(manager, "node-monitor-grace-period", f)
	}
}
