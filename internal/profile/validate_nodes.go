package profile

import (
	"fmt"
	"strconv"
)

const (
	// renewFraction of the lease duration is how often a kubelet renews
	// (pkg/kubelet/kubelet.go, nodeLeaseRenewIntervalFraction).
	renewFraction = 0.25
	// monitorPeriod is how often kube-controller-manager looks, in seconds
	// (--node-monitor-period).
	monitorPeriod = 5
	// minRenewals within the grace period is what upstream's own defaults have
	// always left: 40 s over 10 s, and 50 s over 10 s since 1.32.
	minRenewals = 4
	// http2Timeout is how long a kubelet may take to notice a dead connection, in
	// seconds: HTTP2_READ_IDLE_TIMEOUT 30 and HTTP2_PING_TIMEOUT 15.
	http2Timeout = 45
)

// liveness checks that the grace period leaves room for renewals to be late.
// An error is a cluster that flaps: one renewal that is lost, and the node is
// NotReady before the next is due and seen. Fewer than four renewals is a
// choice somebody may have made, so it is a warning.
func (v *validator) liveness() {
	n := v.Nodes
	renew, grace := float64(n.LeaseDurationSeconds)*renewFraction, float64(n.MonitorGraceSeconds)
	const ref = "kubernetes/kubernetes#80172; pkg/controller/nodelifecycle: the grace period must be several times the renewal interval"
	switch {
	case grace < 2*renew+monitorPeriod:
		v.err(CodeLeaseRenewExceedsGrace, "nodes.monitorGraceSeconds",
			fmt.Sprintf("kubelets renew every %s s (a quarter of leaseDurationSeconds) and the controller manager looks every %d s: with a grace of %d s one missed renewal makes a node NotReady",
				number2(renew), monitorPeriod, n.MonitorGraceSeconds),
			fmt.Sprintf("set monitorGraceSeconds to %s or more, or leaseDurationSeconds to %d or less",
				number2(max(minRenewals*renew+monitorPeriod, http2Timeout+monitorPeriod)), int(max(1, grace/minRenewals/renewFraction))), ref)
	case grace < minRenewals*renew:
		v.warn(CodeLeaseFewRenewals, "nodes.monitorGraceSeconds",
			fmt.Sprintf("a grace of %d s holds fewer than %d renewals of %s s", n.MonitorGraceSeconds, minRenewals, number2(renew)),
			fmt.Sprintf("set monitorGraceSeconds to %s or more", number2(minRenewals*renew+monitorPeriod)), ref)
	}
	if n.MonitorGraceSeconds <= http2Timeout {
		v.warn(CodeGraceBelowHTTP2, "nodes.monitorGraceSeconds",
			fmt.Sprintf("a kubelet may need %d s to notice a dead connection to an apiserver; a grace of %d s declares it NotReady first", http2Timeout, n.MonitorGraceSeconds),
			"keep upstream's 50, or more", "kubernetes/kubernetes#126287, #121793")
	}
	if n.StatusUpdateSeconds > 0 && n.StatusReportSeconds == 0 {
		v.warn(CodeReportFollowsUpdate, "nodes.statusUpdateSeconds",
			fmt.Sprintf("an explicit update frequency becomes the report frequency too: every node writes its status every %d s instead of every 300 s", n.StatusUpdateSeconds),
			"set statusReportSeconds as well (300 is upstream's), or leave both out", "pkg/kubelet/apis/config/v1beta1/defaults.go; gardener/gardener#7213")
	}
}

// nodeLoad checks the remaining fields of the node axis.
func (v *validator) nodeLoad() {
	n := v.Nodes
	if n.TargetCount > 0 && n.TargetCount < n.Count {
		v.info(CodeTargetBelowCount, "nodes.targetCount",
			fmt.Sprintf("the target is below the present %d nodes; the larger is what is sized for", n.Count), "", "")
	}
	v.objectSize("nodes.nodeBytes", n.NodeBytes)
	v.objectSize("nodes.podBytes", n.PodBytes)
}

// maxEtcdRequest is etcd's --max-request-bytes by default.
const maxEtcdRequest = 3 << 19

func (v *validator) objectSize(path string, bytes int) {
	if bytes > maxEtcdRequest {
		v.warn(CodeObjectOverEtcdRequest, path,
			fmt.Sprintf("an object of %d bytes is over etcd's request limit of %d: it cannot be written", bytes, maxEtcdRequest),
			"split the object, or raise --max-request-bytes of etcd", "etcd --max-request-bytes")
	}
}

// number2 prints a number of seconds without needless decimals.
func number2(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
