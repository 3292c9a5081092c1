package estimate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/quantity"
)

// advice is what the estimate says besides numbers and rungs: the things no
// layout mends, and those that come before one.
func (m *model) advice() (fs []finding.Finding) {
	for _, f := range []func() []finding.Finding{
		m.diskAdvice, m.runawayAdvice, m.kubeletAdvice, m.fanoutAdvice, m.stateAdvice, m.sourceAdvice, m.eventAdvice, m.storeAdvice,
	} {
		fs = append(fs, f()...)
	}
	return fs
}

func one(code string, s finding.Severity, path, message, fix, ref string) []finding.Finding {
	return []finding.Finding{{Code: code, Severity: s, Path: path, Message: message, Fix: fix, Ref: ref}}
}

func (m *model) diskAdvice() []finding.Finding {
	setting, slow := m.slowDisk()
	if !slow {
		return nil
	}
	what := "etcd is on a spinning disk"
	if ms := m.p.ControlPlane.FsyncP99Ms; ms > 0 {
		what = fmt.Sprintf("a WAL fsync takes %s ms at the 99th percentile; etcd is made for less than %s", num(ms), num(goodFsyncMs.value))
	}
	return one("slow-disk-first", finding.Warning, setting,
		what+"; every write of every store on it waits for that, and no rung makes it faster",
		"move etcd to a local NVMe or SSD, alone on it, and measure again before changing the layout",
		"etcd tuning guide; k3s-io/k3s#9204, etcd-io/etcd#12405")
}

func (m *model) runawayAdvice() []finding.Finding {
	r, why := m.runaway()
	if r == nil {
		return nil
	}
	return one("runaway-controller-first", finding.Warning, m.rowPath(r),
		r.label()+": "+why+"; a controller is looping, and any store or apiserver added for it fills as well",
		"find why the controller repeats itself (its events and logs name the reason), stop it, delete what has piled up, then look at this estimate again",
		"cert-manager/cert-manager#4846, cert-manager/cert-manager#6157")
}

func (m *model) kubeletAdvice() []finding.Finding {
	if !m.kubeletBound() {
		return nil
	}
	return one("kubelet-bound", finding.Warning, "nodes.podChurnPerSecond",
		fmt.Sprintf("%s pods a second on each node: a kubelet and its runtime start and stop about %s; the nodes are the limit, not the control plane",
			num(m.podsPerNodeSecond()), num(kubeletPodsPerSecond)),
		"add nodes, or keep pods warm and reuse them; no control-plane rung raises this",
		"kubernetes-sigs/agent-sandbox#1276")
}

// fanoutAdvice: what is sent to watchers is paid in CPU of the apiservers they
// are connected to, wherever the objects are stored.
func (m *model) fanoutAdvice() []finding.Finding {
	r := m.fanoutRatio()
	if m.class != fanOut && r.Value < 1 {
		return nil
	}
	s := m.widest()
	return one("fan-out", finding.Warning, m.rowPath(s.resource),
		fmt.Sprintf("%s watch events are sent a second, %s of the ceiling (%s a CPU, a figure without a source), most for %s, whose %s reach %s each; no store, cache or tier lowers that, so no rung mends it",
			num(m.fanout.value), quantity.Ratio(r.Value), num(fanoutCeiling.value), s.label(), quantity.With(s.rate.value, "writes/s"), quantity.With(m.reached(s).value, "watchers")),
		"let fewer clients watch it, or let them watch less of it (one namespace, a selector, metadata only), and write it less often; another apiserver does spread it, and costs a full copy of the watch cache",
		"kubernetes/kubernetes staging/src/k8s.io/apiserver/pkg/storage/cacher; kubernetes/enhancements KEP-5866")
}

func (m *model) stateAdvice() (fs []finding.Finding) {
	crds := m.p.State.CRDs
	if m.class == crdSchemas || crds >= manyCRDs {
		fs = append(fs, one("crd-schemas-fewer", finding.Warning, "state.crds",
			fmt.Sprintf("%s custom resource definitions: their schemas take about %s of live heap in every kube-apiserver, whether or not any object exists",
				num(float64(crds)), size(m.crds.value)),
			"install fewer: operator packages by family or with a selection of kinds, and no versions that are not served",
			"Azure/azure-service-operator#2920, crossplane/upjet#151, crossplane/crossplane#2649")...)
	}
	if m.class == listBurst {
		fs = append(fs, one("list-burst-object-size", finding.Warning, m.subjectPath(),
			m.bySubject().label()+": full lists of it cost more than keeping it; each client that lists it holds a whole answer in the apiserver",
			"let clients list with limits or metadata only, use clients with WatchList (client-go of 1.35 does), delete old objects, and store large payloads elsewhere",
			"cert-manager/cert-manager#3748, helm/helm#8977, kubernetes/kubernetes#82633, kubernetes/kubernetes#129076; KEP-3157")...)
	}
	return append(fs, m.headroomAdvice()...)
}

// headroomAdvice: a restart lists everything again while the old heap is not
// yet collected, so a process that fills its host does not come back.
func (m *model) headroomAdvice() []finding.Finding {
	p, half := m.procs[0], m.headroom().value
	if p.rss.high <= half {
		return nil
	}
	severity, verb := finding.Warning, "takes"
	if p.rss.value <= half {
		verb = "may take"
		if p.rss.high <= m.memory().value {
			severity = finding.Info
		}
	}
	return one("restart-headroom", severity, "controlPlane.memoryGiB",
		fmt.Sprintf("one kube-apiserver %s more than half of the host's %s (estimate %s, %s to %s); while it restarts it needs about twice its steady size, and another apiserver does not lower it",
			verb, size(m.memory().value), size(p.rss.value), size(p.rss.low), size(p.rss.high)),
		fmt.Sprintf("measure it; give control-plane hosts twice what it takes (%s by the estimate, %s by its high end), or lower what is resident; restart apiservers one at a time",
			size(2*p.rss.value), size(2*p.rss.high)),
		"kubernetes/kubernetes#65954, openshift/hypershift#306")
}

// sources are the ways of groups whose objects are known to pile up, and what their own projects offer against it.
var sources = []struct{ group, fix, ref string }{
	{"tekton.dev", "prune finished runs (the operator's pruner) and keep their results in Tekton Results", "tektoncd/pipeline#2856, tektoncd/pipeline#3175"},
	{"argoproj.io", "set ttlStrategy and the workflow archive, and offload node status; lower parallelism while finished workflows remain", "argoproj/argo-workflows#10441, argoproj/argo-workflows#12802"},
	{"kyverno.io", "turn reports off that nobody reads; Kyverno's reports-server is a ready-made aggregated tier for them", "kyverno/kyverno#8974, kyverno/kyverno#9178"},
	{"wgpolicyk8s.io", "turn reports off that nobody reads; Kyverno's reports-server is a ready-made aggregated tier for them", "kyverno/kyverno#6949, kyverno/kyverno#9178"},
	{"aquasecurity.github.io", "set a report TTL and limit what is scanned; leave component lists out of reports", "kubernetes/kubernetes#142062"},
	{"x-k8s.io", "reuse warm objects, and merge status updates: one write fewer an object is a share of the whole load", "kubernetes-sigs/agent-sandbox docs/apf-insulation"},
}

// sourceAdvice is the fix at the source, which comes with every rung for custom resources.
func (m *model) sourceAdvice() []finding.Finding {
	if m.class != crChurn {
		return nil
	}
	r := m.bySubject()
	if r == nil {
		return nil
	}
	fix, ref := "delete finished objects sooner, write status less often, and store less in each object", "kyverno/kyverno#8974, argoproj/argo-workflows#10441"
	for _, s := range sources {
		if r.Group == s.group || strings.HasSuffix(r.Group, "."+s.group) {
			fix, ref = s.fix, s.ref
		}
	}
	return one("source-side-fix", finding.Info, m.rowPath(r),
		fmt.Sprintf("%s is most of the load (%s, %s); --etcd-servers-overrides does not reach custom resources, and every apiserver added copies them",
			r.label(), quantity.With(r.stateCount(), "objects"), quantity.With(r.rate, "writes/s")),
		fix+"; then an aggregated tier for "+r.Group, ref)
}

func (m *model) eventAdvice() (fs []finding.Finding) {
	e := m.p.Churn.Events
	if e.Bytes >= fatEventBytes {
		fs = append(fs, one("fat-events", finding.Warning, "churn.events.bytes",
			fmt.Sprintf("events of %s each, where 0.9 kB is usual", size(float64(e.Bytes))),
			"find the component whose messages carry whole objects or node lists, and shorten them",
			"kubernetes-sigs/karpenter#2071")...)
	}
	if m.class == events && e.TTLSeconds > 900 {
		fs = append(fs, one("event-ttl", finding.Info, "churn.events.ttlSeconds",
			fmt.Sprintf("events are kept for %d s: about %s in the database", e.TTLSeconds, size(m.stream("resource.events").history.value)),
			"after a store of their own, lower --event-ttl (15m is enough for people and collectors); 0 would keep them for ever",
			"kubernetes/kubernetes#124836, kubernetes/kubernetes#47366")...)
	}
	if m.class == events {
		fs = append(fs, one("event-rate-limit", finding.Info, "churn.events.perSecond",
			"an events store that is slow or down still holds request seats of the apiservers",
			"limit events with the EventRateLimit admission plugin or a priority level of their own",
			"kubernetes/kubernetes#77723")...)
	}
	return fs
}

func (m *model) storeAdvice() (fs []finding.Finding) {
	for _, s := range m.stores {
		// A quota over 8 GiB in the profile is the profile's own finding; here it is what the database grows to.
		if s.db.value > suggestedQuotaGiB*gib || m.l.QuotaGiB > suggestedQuotaGiB && s.name == mainStore {
			fs = append(fs, one("quota-over-8gib", finding.Warning, "controlPlane.etcdQuotaGiB",
				fmt.Sprintf("as the control plane is now, the %s etcd comes to %s (%s to %s) under a quota of %s: etcd suggests 8 GiB at most, and a member needs the longer to start the larger its database is",
					s.name, size(s.db.value), size(s.db.low), size(s.db.high), size(m.quota().value)),
				"move what can move to a store of its own first, since each part then starts sooner; a quota above 8 GiB is for what cannot, as in the rungs of the largest clusters",
				"etcd system limits; k3s-io/k3s#14130")...)
		}
	}
	disks := max(m.p.ControlPlane.EtcdDisks, 1)
	if n := m.durableStores(); n > disks {
		var names []string
		for _, s := range m.stores {
			if !s.ephemeral && s.disk == 0 {
				names = append(names, s.name)
			}
		}
		fs = append(fs, one("same-disk-no-gain", finding.Warning, "controlPlane.etcdDisks",
			fmt.Sprintf("the etcds %s share one disk: apart, they isolate database size and compaction, and not fsync; this adds no write capacity",
				strings.Join(names, ", ")),
			fmt.Sprintf("give each host %d disks for etcd, or put ephemeral data in memory", n),
			"kubernetes-sigs/kubespray#2385, kubernetes/kubeadm#428")...)
	}
	return fs
}

// rowPath is where the profile speaks of a resource.
func (m *model) rowPath(r *resource) string {
	for i, c := range m.p.Churn.Resources {
		if c.GroupResource == r.GroupResource {
			return "churn.resources[" + strconv.Itoa(i) + "]"
		}
	}
	for i, s := range m.p.State.Resources {
		if s.GroupResource == r.GroupResource {
			return "state.resources[" + strconv.Itoa(i) + "]"
		}
	}
	return ""
}

func (m *model) subjectPath() string {
	if r := m.bySubject(); r != nil {
		return m.rowPath(r)
	}
	return ""
}

// bySubject is the resource the class is about, nil where it is a setting.
func (m *model) bySubject() *resource {
	i := slices.IndexFunc(m.resources, func(r *resource) bool { return r.String() == m.subject })
	if i < 0 {
		return nil
	}
	return m.resources[i]
}

// num writes a number in a sentence, and size bytes.
func num(v float64) string { return quantity.Count(v) }

func size(v float64) string { return quantity.Bytes(v) }
