package aggregated

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubeseams/seams/internal/plan"
)

// ServerRole is the ClusterRole of what a tier's server reads.
const ServerRole = "seams:aggregated-server"

// readRules are what the informers of the server's own admission and of its
// priority and fairness list and watch, and nothing else: without one of them
// the server never becomes ready.
func readRules() []rbacv1.PolicyRule {
	verbs := []string{"get", "list", "watch"}
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"namespaces", "services"}, Verbs: verbs},
		{APIGroups: []string{"admissionregistration.k8s.io"}, Verbs: verbs, Resources: []string{
			"mutatingwebhookconfigurations", "validatingwebhookconfigurations",
			"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
			"validatingadmissionpolicies", "validatingadmissionpolicybindings",
		}},
		{APIGroups: []string{"flowcontrol.apiserver.k8s.io"}, Verbs: verbs, Resources: []string{"flowschemas", "prioritylevelconfigurations"}},
	}
}

// Shared are the objects of all tiers of a plan.
func Shared(p *plan.Plan) []any {
	all := []any{&corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: p.Aggregated[0].Namespace, Labels: map[string]string{partOf: partName}},
	}}
	if !p.Aggregated[0].Second() {
		all = append(all, &rbacv1.ClusterRole{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
			ObjectMeta: metav1.ObjectMeta{Name: ServerRole, Labels: map[string]string{partOf: partName}},
			Rules:      readRules(),
		})
	}
	return append(all, priorityLevel())
}

const (
	partOf, partName = "app.kubernetes.io/part-of", "seams"
	instance, app    = "app.kubernetes.io/instance", "app.kubernetes.io/name"
	serverName       = "aggregated-server"
	etcdName         = "aggregated-etcd"
)

// labels are those of everything of a tier.
func labels(t plan.AggregatedTier) map[string]string {
	return map[string]string{partOf: partName, instance: t.Name}
}

// selects are the labels of a tier's pods of one program.
func selects(t plan.AggregatedTier, program string) map[string]string {
	return map[string]string{app: program, instance: t.Name}
}

func meta(t plan.AggregatedTier, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: t.Namespace, Labels: labels(t)}
}

// Objects are those that a tier's server needs before it starts, and the
// Service that an APIService leads to. It is an error when a host of a static
// tier has no address.
func Objects(p *plan.Plan, t plan.AggregatedTier) ([]any, error) {
	all := identity(t)
	all = append(all, flowSchema(t), service(t))
	if t.Form == plan.WorkloadForm {
		s, _ := p.Store(t.Store)
		if t.Second() {
			config, err := reviews(t)
			if err != nil {
				return nil, err
			}
			all = append(all, config)
		}
		all = append(all, etcdService(t))
		all = append(all, policies(t)...)
		return append(all, budgets(t, t.Members(s))...), nil
	}
	slice, err := endpoints(p, t)
	if err != nil {
		return nil, err
	}
	return append(all, slice), nil
}

// identity is who the server is and what it may: to ask kube-apiserver who
// somebody is and what they may, to read how the front proxy shows itself, and
// the informers' reads. A second kube-apiserver only asks.
func identity(t plan.AggregatedTier) []any {
	var all []any
	subject := rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: t.User()}
	if t.Form == plan.WorkloadForm {
		subject = rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: t.Name, Namespace: t.Namespace}
		all = append(all, &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta(t, t.Name)})
	}
	cluster := func(name, role string) any {
		return &rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels(t)},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{subject},
		}
	}
	delegator := cluster("seams:"+t.Name+":delegator", "system:auth-delegator")
	if t.Second() {
		return append(all, delegator)
	}
	return append(all,
		cluster("seams:"+t.Name, ServerRole),
		delegator,
		&rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: "seams:" + t.Name, Namespace: metav1.NamespaceSystem, Labels: labels(t)},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "extension-apiserver-authentication-reader"},
			Subjects:   []rbacv1.Subject{subject},
		})
}

const portName = "https"

// service is the one of the APIServices. For servers on the hosts' network it
// selects nothing: pods of static manifests are mirrored into kube-system, and
// are no members of a Service elsewhere.
func service(t plan.AggregatedTier) *corev1.Service {
	s := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: meta(t, t.Service),
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{
			Name: portName, Protocol: corev1.ProtocolTCP, Port: int32(t.Port), TargetPort: intstr.FromInt32(int32(t.Port)),
		}}},
	}
	if t.Form == plan.WorkloadForm {
		s.Spec.Selector = selects(t, serverName)
	}
	return s
}

// endpoints lists the hosts of a static tier. Nothing takes a host off the list
// when its server is down; the README says how.
func endpoints(p *plan.Plan, t plan.AggregatedTier) (*discoveryv1.EndpointSlice, error) {
	name, protocol, port, ready := portName, corev1.ProtocolTCP, int32(t.Port), true
	slice := &discoveryv1.EndpointSlice{
		TypeMeta:    metav1.TypeMeta{APIVersion: discoveryv1.SchemeGroupVersion.String(), Kind: "EndpointSlice"},
		ObjectMeta:  meta(t, t.Service+"-hosts"),
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &name, Protocol: &protocol, Port: &port}},
	}
	slice.Labels[discoveryv1.LabelServiceName] = t.Service
	slice.Labels[discoveryv1.LabelManagedBy] = "seams"
	for _, host := range t.Hosts {
		h, _ := p.Host(host)
		address, err := netip.ParseAddr(h.Address)
		if err != nil {
			return nil, fmt.Errorf("aggregated tier %s: host %s has no IP address: %q", t.Name, host, h.Address)
		}
		if address.Is6() && !address.Is4In6() {
			slice.AddressType = discoveryv1.AddressTypeIPv6
		}
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{address.Unmap().String()}, NodeName: &h.Name, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		})
	}
	return slice, nil
}
