package cluster

import (
	"slices"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/load"
)

const (
	rbacPath  = "/apis/rbac.authorization.k8s.io/v1"
	rbacGroup = rbac.GroupName + "/v1"
)

func rule(group string, resources, verbs []string, names ...string) rbac.PolicyRule {
	return rbac.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs, ResourceNames: names}
}

// access lets the Pods do what their load does, where it does it.
func (m *maker) access() {
	m.account(loadName)
	names := []string{}
	for i := range m.spec.Parts {
		names = append(names, partMap(i))
	}
	m.role(Namespace, loadName, []rbac.PolicyRule{
		rule("", []string{"configmaps"}, []string{"get"}, controlMap),
		rule("", []string{"configmaps"}, []string{"patch"}, names...),
	})
	if rules := m.everywhere(); len(rules) > 0 {
		m.clusterRole(loadName, rules)
		m.clusterBinding(loadName)
	}
	if rules := m.inPart(); len(rules) > 0 {
		m.clusterRole(partName, rules)
		for i := range m.spec.Parts {
			m.binding(partNamespace(i), loadName, "ClusterRole", partName)
		}
	}
	if m.spec.Load.Kind == prove.KindNodes {
		verbs := []string{"get", "create", "update"}
		if m.spec.Load.NodesBy == load.Kwok {
			verbs = []string{"list", "watch"}
		}
		m.role(leaseNamespace, loadName, []rbac.PolicyRule{rule("coordination.k8s.io", []string{"leases"}, verbs)})
	}
	if m.spec.Load.NodesBy == load.Kwok {
		m.kwokAccess()
	}
}

// everywhere are the rights on what is of the whole cluster.
func (m *maker) everywhere() []rbac.PolicyRule {
	var rules []rbac.PolicyRule
	if m.spec.Probe {
		rules = append(rules, rule("", []string{"nodes"}, []string{"list"}))
	}
	if m.spec.Load.Kind == prove.KindNodes {
		rules = append(rules, rule("", []string{"nodes"}, []string{"create", "get", "list"}))
		if m.spec.Load.NodesBy != load.Kwok {
			rules = append(rules, rule("", []string{"nodes/status"}, []string{"patch"}))
		}
	}
	for _, c := range m.spec.Load.Custom() {
		rules = append(rules, rule(c.Group, []string{c.Plural}, []string{"list", "watch"}))
	}
	return rules
}

// inPart are the rights in the namespaces of the parts.
func (m *maker) inPart() []rbac.PolicyRule {
	var rules []rbac.PolicyRule
	d := m.spec.Load
	for _, c := range d.Custom() {
		rules = append(rules, rule(c.Group, []string{c.Plural}, []string{"create", "patch", "delete"}),
			rule(c.Group, []string{c.Plural + "/status"}, []string{"patch"}))
	}
	if m.spec.Probe || d.PodsPerSecond > 0 {
		rules = append(rules, rule("", []string{"pods"}, []string{"create", "delete"}))
	}
	if d.PodsPerSecond > 0 {
		rules = append(rules, rule("", []string{"pods/binding"}, []string{"create"}), rule("", []string{"pods/status"}, []string{"patch"}))
	}
	if m.spec.Probe {
		rules = append(rules, rule("", []string{"configmaps"}, []string{"get", "create", "update"}))
	}
	switch {
	case d.Kind == prove.KindEvents:
		rules = append(rules, rule("", []string{"events"}, []string{"create"}))
	case d.Kind == prove.KindLeaderElections:
		rules = append(rules, rule("coordination.k8s.io", []string{"leases"}, []string{"get", "create", "update"}))
	case d.RBACObjects > 0:
		// Nobody may grant what he has not himself: the Roles of the load grant
		// reading ConfigMaps.
		rules = append(rules, rule("rbac.authorization.k8s.io", []string{"roles"}, []string{"create"}),
			rule("", []string{"configmaps"}, []string{"get", "list", "watch"}))
	}
	return rules
}

func (m *maker) kwokAccess() {
	m.account(kwokName)
	m.clusterRole(kwokName, []rbac.PolicyRule{
		rule("", []string{"nodes"}, []string{"get", "list", "watch"}),
		rule("", []string{"nodes/status"}, []string{"patch", "update"}),
		// It looks for Pods on its nodes, and has no stage for them.
		rule("", []string{"pods"}, []string{"get", "list", "watch"}),
		rule("", []string{"events"}, []string{"create", "patch", "update"}),
		// It lists Leases of all namespaces.
		rule("coordination.k8s.io", []string{"leases"}, []string{"get", "list", "watch"}),
	})
	m.clusterBinding(kwokName)
	m.role(leaseNamespace, kwokName, []rbac.PolicyRule{rule("coordination.k8s.io", []string{"leases"}, []string{"create", "update", "patch"})})
}

func (m *maker) account(name string) {
	meta := m.meta(name, Namespace)
	m.add("ServiceAccount", inNamespace("/api/v1", Namespace, "serviceaccounts"), meta,
		&core.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta})
}

func (m *maker) clusterRole(name string, rules []rbac.PolicyRule) {
	meta := m.meta(name, "")
	m.add("ClusterRole", rbacPath+"/clusterroles", meta, &rbac.ClusterRole{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacGroup, Kind: "ClusterRole"}, ObjectMeta: meta, Rules: rules,
	})
}

func subjects(account string) []rbac.Subject {
	return []rbac.Subject{{Kind: rbac.ServiceAccountKind, Name: account, Namespace: Namespace}}
}

func (m *maker) clusterBinding(name string) {
	meta := m.meta(name, "")
	m.add("ClusterRoleBinding", rbacPath+"/clusterrolebindings", meta, &rbac.ClusterRoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacGroup, Kind: "ClusterRoleBinding"}, ObjectMeta: meta,
		RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "ClusterRole", Name: name}, Subjects: subjects(name),
	})
}

// role and its binding, to the account of the same name.
func (m *maker) role(namespace, name string, rules []rbac.PolicyRule) {
	meta := m.meta(name, namespace)
	m.add("Role", inNamespace(rbacPath, namespace, "roles"), meta, &rbac.Role{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacGroup, Kind: "Role"}, ObjectMeta: meta, Rules: slices.Clone(rules),
	})
	m.binding(namespace, name, "Role", name)
}

func (m *maker) binding(namespace, account, kind, role string) {
	meta := m.meta(account, namespace)
	m.add("RoleBinding", inNamespace(rbacPath, namespace, "rolebindings"), meta, &rbac.RoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacGroup, Kind: "RoleBinding"}, ObjectMeta: meta,
		RoleRef: rbac.RoleRef{APIGroup: rbac.GroupName, Kind: kind, Name: role}, Subjects: subjects(account),
	})
}
