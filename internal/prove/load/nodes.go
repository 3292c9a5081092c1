package load

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync/atomic"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Renewer is who renews the Leases of hollow nodes.
type Renewer string

// The renewers.
const (
	// Own is the driver itself, on its timetable.
	Own Renewer = "own"
	// Kwok is a kwok process of the caller's, told to manage nodes with the
	// annotation kwok.x-k8s.io/node=fake; the load only creates and watches.
	Kwok Renewer = "kwok"
)

const (
	leaseNamespace = "kube-node-lease"
	// renewShare of the lease duration is the kubelet's renew interval, and
	// renewJitter what its timer adds at most (kubelet.go nodeLeaseRenewIntervalFraction,
	// component-helpers lease/controller.go).
	renewShare  = 0.25
	renewJitter = 0.04
	// renewAttempts are made at once before a renewal waits for the next turn,
	// as by the kubelet (lease/controller.go maxUpdateRetries).
	renewAttempts = 5
)

// Nodes is a load of hollow nodes that heartbeat as kubelets do.
type Nodes struct {
	Driver *Driver
	// Count of nodes.
	Count int
	// LeaseDuration is the kubelet's nodeLeaseDurationSeconds; 0 is 40 s. A node
	// renews every quarter of it.
	LeaseDuration time.Duration
	// StatusEvery is the kubelet's nodeStatusReportFrequency; 0 is 5 min.
	StatusEvery time.Duration
	// Images in a node's status set its size, some 200 bytes each; the kubelet
	// reports 50 at most.
	Images int
	// RenewedBy is Own or Kwok; empty is Own.
	RenewedBy Renewer
	// LateAfter is the delay from which a renewal counts as late; 0 is 1 s, the
	// API's objective for writes.
	LateAfter time.Duration
	// Prefix of node names; empty is "hollow".
	Prefix string
	// Labels that nodes and the Leases made here have besides their own.
	Labels map[string]string

	nodes []*hollow
	idle  *idle
}

// hollow is one node.
type hollow struct {
	name string
	uid  types.UID
	busy atomic.Bool // a renewal is under way: the kubelet's loop never overlaps
	// lease is the last answer, and renewed when it came; owned by who set busy.
	lease   *coordination.Lease
	renewed time.Time
	gap     time.Duration
}

// Name of the load.
func (n *Nodes) Name() string { return "nodes" }

func (n *Nodes) duration() time.Duration { return orDefault(n.LeaseDuration, 40*time.Second) }

func (n *Nodes) interval() time.Duration {
	return time.Duration(renewShare * float64(n.duration()))
}

func (n *Nodes) label() string { return loadLabel + "=" + n.prefix() }

func (n *Nodes) prefix() string {
	if n.Prefix == "" {
		return "hollow"
	}
	return n.Prefix
}

// Names are those of the nodes, for Pods to be bound to.
func (n *Nodes) Names() []string {
	names := make([]string, n.Count)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%05d", n.prefix(), i)
	}
	return names
}

// Prepare creates the nodes, Ready, and their Leases unless kwok will. Nodes
// renew from then on, until Run takes over or Cleanup ends it.
func (n *Nodes) Prepare(ctx context.Context) error {
	n.nodes = make([]*hollow, n.Count)
	r := n.Driver.random(n.prefix())
	images := nodeImages(r, n.Images)
	names := n.Names()
	if n.RenewedBy != Kwok {
		if err := n.Driver.ensureNamespace(ctx, leaseNamespace); err != nil {
			return err
		}
	}
	err := n.Driver.each(ctx, n.Name(), "prepare", n.Count, func(ctx context.Context, i int) error {
		h := &hollow{name: names[i]}
		n.nodes[i] = h
		api := n.Driver.client(i).core
		created, err := api.nodes().Create(ctx, n.object(h.name, i, images), metav1.CreateOptions{})
		if ignoreExists(err) != nil {
			return fmt.Errorf("create node %s: %w", h.name, err)
		}
		if err != nil {
			if created, err = api.nodes().Get(ctx, h.name, metav1.GetOptions{}); err != nil {
				return fmt.Errorf("get node %s: %w", h.name, err)
			}
		}
		h.uid = created.UID
		if n.RenewedBy == Kwok {
			return nil
		}
		return n.ensureLease(ctx, i)
	})
	switch {
	case err != nil:
		return err
	case n.RenewedBy == Kwok:
		return n.awaitKwok(ctx)
	}
	n.begin(ctx)
	return nil
}

func (n *Nodes) ensureLease(ctx context.Context, i int) error {
	h, leases := n.nodes[i], n.Driver.client(i).core.leases(leaseNamespace)
	lease, err := leases.Create(ctx, n.renewal(h), metav1.CreateOptions{})
	if ignoreExists(err) != nil {
		return fmt.Errorf("create lease of node %s: %w", h.name, err)
	}
	if err != nil {
		if lease, err = leases.Get(ctx, h.name, metav1.GetOptions{}); err != nil {
			return fmt.Errorf("get lease of node %s: %w", h.name, err)
		}
	}
	h.lease, h.renewed = lease, time.Now()
	return nil
}

// renewal is the lease to write: the last answer with a new time.
func (n *Nodes) renewal(h *hollow) *coordination.Lease {
	now := metav1.NewMicroTime(time.Now())
	if h.lease != nil {
		lease := h.lease.DeepCopy()
		lease.Spec.RenewTime = &now
		return lease
	}
	seconds := int32(n.duration().Seconds())
	return &coordination.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: h.name, Namespace: leaseNamespace, Labels: n.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: h.name, UID: h.uid}},
		},
		Spec: coordination.LeaseSpec{HolderIdentity: &h.name, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}
}

// object is the node, with the status of an idle worker.
func (n *Nodes) object(name string, i int, images []core.ContainerImage) *core.Node {
	size := core.ResourceList{
		core.ResourceCPU:    resource.MustParse("32"),
		core.ResourceMemory: resource.MustParse("256Gi"),
		core.ResourcePods:   resource.MustParse("110"),
	}
	node := &core.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				loadLabel: n.prefix(), "type": "kwok", core.LabelHostname: name, core.LabelOSStable: "linux", core.LabelArchStable: "amd64",
			},
			Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		},
		// No scheduler shall put real work there.
		Spec: core.NodeSpec{Taints: []core.Taint{{Key: "kwok.x-k8s.io/node", Value: "fake", Effect: core.TaintEffectNoSchedule}}},
		Status: core.NodeStatus{
			Capacity: size, Allocatable: size, Images: images,
			Addresses: []core.NodeAddress{
				{Type: core.NodeInternalIP, Address: fmt.Sprintf("10.%d.%d.%d", 128+i>>16&127, i>>8&255, i&255)},
				{Type: core.NodeHostName, Address: name},
			},
			NodeInfo: core.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64"},
		},
	}
	maps.Copy(node.Labels, n.Labels)
	if n.RenewedBy != Kwok { // whose stages make it Ready
		node.Status.Conditions = conditions(time.Now())
	}
	return node
}

// conditions are the kubelet's four, heartbeating now.
func conditions(at time.Time) []core.NodeCondition {
	now := metav1.NewTime(at.Truncate(time.Second))
	made := func(t core.NodeConditionType, s core.ConditionStatus, reason, message string) core.NodeCondition {
		return core.NodeCondition{Type: t, Status: s, LastHeartbeatTime: now, LastTransitionTime: now, Reason: reason, Message: message}
	}
	return []core.NodeCondition{
		made(core.NodeMemoryPressure, core.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		made(core.NodeDiskPressure, core.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		made(core.NodePIDPressure, core.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		made(core.NodeReady, core.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
}

// heartbeat is the patch of a status report: the kubelet sends what changed,
// and the server merges conditions by type.
func heartbeat(at time.Time) ([]byte, error) {
	type condition struct {
		Type              core.NodeConditionType `json:"type"`
		LastHeartbeatTime metav1.Time            `json:"lastHeartbeatTime"`
	}
	var changed []condition
	for _, c := range conditions(at) {
		changed = append(changed, condition{c.Type, c.LastHeartbeatTime})
	}
	return json.Marshal(map[string]any{"status": map[string]any{"conditions": changed}})
}

func nodeImages(r *rand.Rand, n int) []core.ContainerImage {
	images := make([]core.ContainerImage, n)
	for i := range images {
		repository := "registry.example/" + text(r, 24)
		images[i] = core.ContainerImage{
			Names:     []string{repository + "@sha256:" + text(r, 64), repository + ":v1." + text(r, 6)},
			SizeBytes: int64(r.IntN(1 << 30)),
		}
	}
	return images
}

// Cleanup deletes the nodes and their Leases.
func (n *Nodes) Cleanup(ctx context.Context) error {
	n.end()
	names := n.Names()
	return n.Driver.each(ctx, n.Name(), "cleanup", n.Count, func(ctx context.Context, i int) error {
		api := n.Driver.client(i).core
		if err := ignoreNotFound(api.nodes().Delete(ctx, names[i], metav1.DeleteOptions{})); err != nil {
			return fmt.Errorf("delete node %s: %w", names[i], err)
		}
		err := ignoreNotFound(api.leases(leaseNamespace).Delete(ctx, names[i], metav1.DeleteOptions{}))
		if err != nil {
			return fmt.Errorf("delete lease of node %s: %w", names[i], err)
		}
		return nil
	})
}
