package aggregated

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubeseams/seams/internal/plan"
)

// etcdService gives the members of a workload's etcd their names, also before
// they are ready: they find each other by them.
func etcdService(t plan.AggregatedTier) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta(t, t.EtcdService()),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true, Selector: selects(t, etcdName),
			Ports: []corev1.ServicePort{
				{Name: "client", Protocol: corev1.ProtocolTCP, Port: etcdClientPort, TargetPort: intstr.FromString("client")},
				{Name: "peer", Protocol: corev1.ProtocolTCP, Port: etcdPeerPort, TargetPort: intstr.FromString("peer")},
			},
		},
	}
}

// policies let in what a workload's pods are for. kube-apiserver calls from its
// host, which no selector of pods matches, so the server takes its one port from
// everywhere, and TLS and RBAC do the rest. Its etcd talks to its servers and
// its own members only.
func policies(t plan.AggregatedTier) []any {
	policy := func(name, program string, rules ...networkingv1.NetworkPolicyIngressRule) any {
		return &networkingv1.NetworkPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "NetworkPolicy"},
			ObjectMeta: meta(t, name),
			Spec: networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: selects(t, program)},
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
				Ingress:     rules,
			},
		}
	}
	port := func(n int) []networkingv1.NetworkPolicyPort {
		protocol, p := corev1.ProtocolTCP, intstr.FromInt32(int32(n))
		return []networkingv1.NetworkPolicyPort{{Protocol: &protocol, Port: &p}}
	}
	from := func(program string) []networkingv1.NetworkPolicyPeer {
		return []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: selects(t, program)}}}
	}
	return []any{
		policy(t.Name, serverName, networkingv1.NetworkPolicyIngressRule{Ports: port(t.Port)}),
		policy(t.EtcdService(), etcdName,
			networkingv1.NetworkPolicyIngressRule{Ports: port(etcdClientPort), From: append(from(serverName), from(etcdName)...)},
			networkingv1.NetworkPolicyIngressRule{Ports: port(etcdPeerPort), From: from(etcdName)}),
	}
}

// budgets keep a drain from taking the last server or the majority of an etcd.
// A single one gets none, since a budget would keep its node from being drained
// at all; and static pods are not evicted, so none would hold for them.
func budgets(t plan.AggregatedTier, members int) []any {
	budget := func(name, program string, n int) any {
		unavailable := intstr.FromInt32(int32(n))
		return &policyv1.PodDisruptionBudget{
			TypeMeta:   metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"},
			ObjectMeta: meta(t, name),
			Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &unavailable, Selector: &metav1.LabelSelector{MatchLabels: selects(t, program)}},
		}
	}
	var all []any
	if t.Replicas > 1 {
		all = append(all, budget(t.Name, serverName, 1))
	}
	if members > 2 {
		all = append(all, budget(t.EtcdService(), etcdName, (members-1)/2))
	}
	return all
}
