package measure

import (
	"fmt"
	"math"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/pattern"
	"github.com/kubeseams/seams/internal/quantity"
	"github.com/kubeseams/seams/internal/target"
)

// Profile turns an observation into a profile. The findings are what was not
// seen, and what the figures should be read with. Errors: no node was seen,
// without which there is no profile.
func Profile(o *Observation) (*Document, []finding.Finding, error) {
	m := &maker{o: o, root: &node{}}
	nodes := m.count("", "nodes")
	if nodes == 0 {
		return nil, nil, fmt.Errorf("no apiserver tells how many nodes there are: apiserver_resource_objects, or before 1.34 apiserver_storage_objects, has no nodes")
	}
	m.head()
	m.nodes(nodes)
	m.churn(nodes)
	m.state()
	m.controlPlane()
	m.doubts()
	finding.Sort(m.findings)
	return &Document{m.root}, m.findings, nil
}

// maker is one call of Profile.
type maker struct {
	o        *Observation
	root     *node
	findings []finding.Finding
	unseen   []string
	// leaseSeconds is the duration of node leases, 0 when unseen.
	leaseSeconds int
}

func (m *maker) say(code string, s finding.Severity, path, message, fix string) {
	m.findings = append(m.findings, finding.Finding{Code: code, Severity: s, Path: path, Message: message, Fix: fix})
}

// missed notes a value that the profile's default stands for, and gives the comment.
func (m *maker) missed(path, why, fix string) string {
	m.say("measure-unseen", finding.Info, path, why+"; the profile's default is used", fix)
	return path[strings.LastIndexByte(path, '.')+1:] + " was not seen: " + why + "."
}

func (m *maker) count(group, resource string) int {
	return whole(m.o.look(group, resource).Objects, math.MaxInt32)
}

// whole is a count, and most where it is more: what a profile takes. It is
// bounded before it is made an integer, which of a large float is any number.
func whole(v float64, most int) int {
	switch {
	case !(v > 0):
		return 0
	case v >= float64(most):
		return most
	}
	return int(math.Round(v))
}

// rate is a count between the looks by the second, to three digits: a window is
// a sample.
func (m *maker) rate(n float64) float64 {
	if m.o.Seconds <= 0 {
		return 0
	}
	return min(digits(n/m.o.Seconds, 3), 1_000_000)
}

func digits(v float64, n int) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-float64(n-1))
	return math.Round(math.Round(v/unit)*unit*1e9) / 1e9
}

var unfit = pattern.Of(`[^a-z0-9.-]+`)

func (m *maker) head() {
	name := strings.Trim(unfit().ReplaceAllString(strings.ToLower(m.o.Name), "-"), "-.")
	name = strings.Trim(name[:min(len(name), 63)], "-.")
	if name == "" {
		name = "measured"
	}
	m.root.comment = []string{"A profile measured by seams. Each value says where it comes from; what was not seen keeps the profile's default."}
	if m.o.Seconds > 0 {
		m.root.comment = append(m.root.comment, fmt.Sprintf("Rates are over a window of %s s: bursts outside it are not in them.", quantity.Count(m.o.Seconds)))
	}
	m.root.set("name", name)
	m.version()
	if m.o.Kops {
		m.root.object("platform").set("kind", "kops", "nodes have labels of kOps; its version and cloud were not seen")
	}
}

// version is the cluster's, where there are tables for it.
func (m *maker) version() {
	text, _, _ := strings.Cut(m.o.Kubernetes, "-")
	text, _, _ = strings.Cut(text, "+")
	v, err := target.ParseVersion(text)
	if err != nil {
		m.root.remark(m.missed("kubernetes", "no apiserver told its version", "write the version"))
		return
	}
	if _, err := target.Resolve(v); err != nil {
		m.say("measure-version", finding.Warning, "kubernetes",
			fmt.Sprintf("the cluster runs Kubernetes %s, for which there are no tables; the profile is for the newest there is", text),
			"write the version that you go to")
		m.root.remark("kubernetes: the cluster runs " + text + ", for which seams has no tables.")
		return
	}
	m.root.set("kubernetes", v.String())
}

func (m *maker) nodes(count int) {
	n := m.root.object("nodes")
	n.set("count", min(count, 1_000_000))
	m.lease(n, count)
	m.status(n, count)
	m.size(n, "nodes.nodeBytes", "", "nodes")
	pods := m.o.look("", "pods")
	n.set("podsPerNode", whole(pods.Objects/float64(count), 1000), quantity.With(pods.Objects, "pods"))
	m.size(n, "nodes.podBytes", "", "pods")
	if m.o.Seconds > 0 {
		n.set("podChurnPerSecond", m.rate(pods.Creates), fmt.Sprintf("%s created, %s deleted and %s other writes in the window",
			quantity.With(pods.Creates, "pods"), quantity.Count(pods.Deletes), quantity.Count(pods.Updates)))
	}
	m.grace(n)
	n.remark(m.missed("nodes.watchesPerNode", "metrics do not tell whose a watch is", "count them on a node, or keep upstream's 18"))
}

// upstreamGrace is --node-monitor-grace-period where nobody sets it.
const upstreamGrace = 50

// grace is the flag, or where it was not seen upstream's, unless that is too
// short for the leases: no cluster runs so for long.
func (m *maker) grace(n *node) {
	need := m.leaseSeconds + 5
	switch {
	case m.o.GraceSeconds > 0:
		n.set("monitorGraceSeconds", m.o.GraceSeconds, "--node-monitor-grace-period of kube-controller-manager")
	case need > upstreamGrace:
		n.set("monitorGraceSeconds", need, "assumed: the flag of kube-controller-manager was not seen, and shorter would make nodes with such leases NotReady")
	case !m.o.Live || m.refused("the flags of the control plane"):
		n.remark(m.missed("nodes.monitorGraceSeconds", "the flags of kube-controller-manager were not seen", "write --node-monitor-grace-period where it is set"))
	}
}

// leaseTolerance is how far a measured lease duration may lie from upstream's
// and still be taken for it: kubelets renew up to 4 % late.
const leaseTolerance = 0.1

// lease is what the leases say, and otherwise what their renewals come to.
func (m *maker) lease(n *node, count int) {
	l, k := m.o.Leases, m.o.look("coordination.k8s.io", "leases")
	if l.NodeSeconds > 0 {
		m.leaseSeconds = l.NodeSeconds
		n.set("leaseDurationSeconds", l.NodeSeconds, fmt.Sprintf("what most of %s say", quantity.With(float64(l.NodeCount), "node leases")))
		return
	}
	elections, ok := m.elections()
	updates := m.rate(k.Updates) - 0.5*float64(elections) - 0.1*float64(max(m.o.Alive, len(m.o.Servers)))
	if m.o.Seconds <= 0 || !ok || updates <= 0.1*float64(count)/10 {
		n.remark(m.missed("nodes.leaseDurationSeconds", "there are no renewals to tell it by", "write nodeLeaseDurationSeconds of the kubelets where it is set"))
		return
	}
	seconds := 4 * float64(count) / updates
	if math.Abs(seconds-40) <= 40*leaseTolerance {
		seconds = 40
	}
	m.leaseSeconds = max(whole(seconds, 3600), 1)
	n.set("leaseDurationSeconds", m.leaseSeconds,
		fmt.Sprintf("from %s renewals/s of node leases: kubelets renew at a quarter of it", quantity.Count(updates)))
}

// enoughReports is how many status writes are enough to tell their interval by.
const enoughReports = 30

func (m *maker) status(n *node, count int) {
	k := m.o.look("", "nodes")
	if k.Updates < enoughReports {
		n.remark(m.missed("nodes.statusReportSeconds", fmt.Sprintf("%s writes of nodes in the window are too few to tell it by", quantity.Count(k.Updates)),
			"look for longer, or write nodeStatusReportFrequency of the kubelets where it is set"))
		return
	}
	seconds := float64(count) * m.o.Seconds / k.Updates
	n.set("statusReportSeconds", max(whole(seconds, 86400), 1), fmt.Sprintf("%s writes of %s in the window, whoever made them",
		quantity.Count(k.Updates), quantity.With(float64(count), "nodes")))
}

// size sets a field to the stored size of a kind's objects.
func (m *maker) size(n *node, path, group, resource string) {
	k := m.o.look(group, resource)
	if k.Bytes <= 0 {
		n.remark(m.missed(path, "no size of "+resource+" was told or read", "measure with a kubeconfig, which reads some"))
		return
	}
	n.set(path[strings.LastIndexByte(path, '.')+1:], objectBytes(k.Bytes), k.BytesFrom)
}

// objectBytes keeps a size within what an apiserver takes.
func objectBytes(v float64) int { return max(whole(v, 3<<20), 1) }

// elections counts components that elect a leader: leases that are neither a
// node's nor an apiserver's.
func (m *maker) elections() (n int, ok bool) {
	if m.o.Leases.Elections >= 0 {
		return m.o.Leases.Elections, true
	}
	leases, nodes := m.count("coordination.k8s.io", "leases"), m.count("", "nodes")
	if leases < nodes {
		return 0, false
	}
	return max(leases-nodes-max(m.o.Alive, len(m.o.Servers)), 0), true
}
