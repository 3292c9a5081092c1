//go:build rig

package rig_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// errString is an error, or one that says why its absence is one.
func errString(err error, none string) error {
	if err == nil {
		return errors.New(none)
	}
	return err
}

// refusal is nil when an error says something.
func refusal(err error, says string) error {
	if err == nil || !strings.Contains(err.Error(), says) {
		return fmt.Errorf("%w, want %q", errString(err, "it is allowed"), says)
	}
	return nil
}

// rules match writes to the side's sessions.
func (on side) rules() []admissionregistrationv1.RuleWithOperations {
	return []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{on.group}, APIVersions: []string{"*"}, Resources: []string{"sessions"}},
	}}
}

// in selects one namespace.
func in(namespace string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
}

// hookAt is how a webhook of this process is called.
func (s *semantics) hookAt(path string) admissionregistrationv1.WebhookClientConfig {
	url := s.hooks.url + path
	return admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: s.hooks.ca}
}

// register registers webhooks with the main server.
func (s *semantics) register(t *testing.T, on side, name, namespace string, mutate, validate admissionregistrationv1.WebhookClientConfig) {
	t.Helper()
	none, fail, seconds := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail, int32(3)
	meta := metav1.ObjectMeta{Name: name + "-" + on.where}
	ctx := t.Context()
	if _, err := s.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: meta, Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name: "mutate.example.dev", ClientConfig: mutate, Rules: on.rules(), NamespaceSelector: in(namespace), SideEffects: &none,
			FailurePolicy: &fail, TimeoutSeconds: &seconds, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: meta, Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate.example.dev", ClientConfig: validate, Rules: on.rules(), NamespaceSelector: in(namespace), SideEffects: &none,
			FailurePolicy: &fail, TimeoutSeconds: &seconds, AdmissionReviewVersions: []string{"v1"},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// webhooks of the main server are called, once for a request, and hear who it
// is from.
func (s *semantics) webhooks(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "hooks")
	s.register(t, on, "hooks", ns, s.hookAt("/mutate"), s.hookAt("/validate"))
	bad := on.session("bad", map[string]any{"note": "refuse me"})
	eventually(t, "a refusal by the webhook", 20*time.Second, func() error {
		_, err := s.sessions(on, ns).Create(ctx, bad, metav1.CreateOptions{DryRun: []string{"All"}})
		return refusal(err, "the webhook refuses")
	})
	s.may(t, on, ns, "erin", rbacv1.Subject{Kind: rbacv1.UserKind, Name: "erin"}, "create")
	erin := sessionsAs(t, s.as(t, s.Config(""), "erin"), on, ns)
	eventually(t, "erin's rights", 10*time.Second, func() error {
		_, err := erin.Create(ctx, on.session("try", nil), metav1.CreateOptions{DryRun: []string{"All"}})
		return err
	})
	made := create(t, erin, on.session("good", nil))
	if got := made.GetAnnotations()["hook"]; got != "was here" {
		t.Errorf("the mutating webhook has left %q", got)
	}
	for _, path := range []string{"/mutate", "/validate"} {
		calls := s.hooks.seen(path, on.group, "good")
		if len(calls) != 1 || calls[0].user != "erin" || calls[0].operation != "CREATE" {
			t.Errorf("%s was called %v", path, calls)
		}
	}
}

// webhookByService: kube-apiserver finds a Service by the API. The standalone
// server has upstream's default, a name in DNS, so that it needs the cluster's
// name server where it runs.
func (s *semantics) webhookByService(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "by-service")
	service := admissionregistrationv1.WebhookClientConfig{
		Service: &admissionregistrationv1.ServiceReference{Namespace: ns, Name: "hook"}, CABundle: s.hooks.ca,
	}
	s.register(t, on, "by-service", ns, s.hookAt("/mutate"), service)
	says := `service "hook" not found`
	if on.where == "tier" {
		says = "lookup hook." + ns + ".svc"
	}
	eventually(t, "a call of the Service", 30*time.Second, func() error {
		_, err := s.sessions(on, ns).Create(ctx, on.session("one", nil), metav1.CreateOptions{DryRun: []string{"All"}})
		return refusal(err, says)
	})
}

// webhooksInTheTier: webhooks cannot be registered there, since the server has
// no such group; those of the main server are what counts.
func (s *semantics) webhooksInTheTier(t *testing.T) {
	for _, resource := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies"} {
		_, err := s.direct.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}).List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("%s at the tier: %v, want not found", resource, err)
		}
	}
}

// policies of the main server hold, with what CEL may ask for: the namespace,
// and what the user may do.
func (s *semantics) policies(t *testing.T, on side) {
	ns := s.namespace(t, on, "policies")
	s.policy(t, on, "limit", ns, nil, "object.spec.replicas < 10 && namespaceObject.metadata.name == '"+ns+"' && authorizer.group('').resource('secrets').namespace('none').check('get').allowed()")
	try := func(replicas int64) error {
		_, err := s.sessions(on, ns).Create(t.Context(), on.session("one", map[string]any{"replicas": replicas}), metav1.CreateOptions{DryRun: []string{"All"}})
		return err
	}
	eventually(t, "the policy", 40*time.Second, func() error { return refusal(try(10), "refused by limit-"+on.where) })
	allowed(t, "what the policy lets through", try(9))
}

// mutatingPolicies change objects by their published schemas. A tier publishes
// none, so that without a definition in the main server such a policy refuses
// every write.
func (s *semantics) mutatingPolicies(t *testing.T, on side) {
	ns := s.namespace(t, on, "mutating")
	s.mutatingPolicy(t, on, ns)
	if on.where == "main" {
		s.mutated(t, on)
		return
	}
	eventually(t, "a refusal for want of a schema", 40*time.Second, func() error {
		_, err := s.sessions(on, ns).Create(t.Context(), on.session("one", nil), metav1.CreateOptions{DryRun: []string{"All"}})
		return refusal(err, "Kind=Session not found")
	})
}

// mutated waits until the policy of mutatingPolicies is in force.
func (s *semantics) mutated(t *testing.T, on side) {
	t.Helper()
	eventually(t, "what the mutating policy adds", 90*time.Second, func() error {
		made, err := s.sessions(on, "mutating-"+on.where).Create(t.Context(), on.session("one", nil), metav1.CreateOptions{DryRun: []string{"All"}})
		if err != nil || made.GetLabels()["policy"] != "yes" {
			return errString(err, "it has not been changed")
		}
		return nil
	})
}

// mutatingPolicy sets a label on the side's sessions of a namespace.
func (s *semantics) mutatingPolicy(t *testing.T, on side, namespace string) {
	t.Helper()
	ctx, meta := t.Context(), metav1.ObjectMeta{Name: "label-" + on.where}
	named := []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: on.rules()[0]}}
	if _, err := s.kube.AdmissionregistrationV1().MutatingAdmissionPolicies().Create(ctx, &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: meta, Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints:   &admissionregistrationv1.MatchResources{ResourceRules: named, NamespaceSelector: in(namespace)},
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch,
				JSONPatch: &admissionregistrationv1.JSONPatch{Expression: `[JSONPatch{op: "add", path: "/metadata/labels", value: {"policy": "yes"}}]`},
			}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.kube.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().Create(ctx, &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: meta, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: meta.Name},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// policy is a validating policy and its binding for a namespace.
func (s *semantics) policy(t *testing.T, on side, name, namespace string, params *admissionregistrationv1.ParamRef, expression string) {
	t.Helper()
	ctx, fail := t.Context(), admissionregistrationv1.Fail
	meta := metav1.ObjectMeta{Name: name + "-" + on.where}
	spec := admissionregistrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: &fail,
		MatchConstraints: &admissionregistrationv1.MatchResources{
			ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: on.rules()[0]}}, NamespaceSelector: in(namespace),
		},
		Validations: []admissionregistrationv1.Validation{{Expression: expression, Message: "refused by " + meta.Name}},
	}
	if params != nil {
		spec.ParamKind = &admissionregistrationv1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	}
	if _, err := s.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: spec}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: meta.Name, ParamRef: params, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// policyParameters: the tier's identity may not read parameters of a policy
// until somebody gives it the right; until then a policy that fails closed
// refuses every write.
func (s *semantics) policyParameters(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "parameters")
	if _, err := s.kube.CoreV1().ConfigMaps(ns).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "limits"}, Data: map[string]string{"most": "5"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	deny := admissionregistrationv1.DenyAction
	s.policy(t, on, "parameters", ns, &admissionregistrationv1.ParamRef{Name: "limits", Namespace: ns, ParameterNotFoundAction: &deny}, "object.spec.replicas <= int(params.data.most)")
	try := func(replicas int64) error {
		_, err := s.sessions(on, ns).Create(ctx, on.session("one", map[string]any{"replicas": replicas}), metav1.CreateOptions{DryRun: []string{"All"}})
		return err
	}
	if on.where == "tier" {
		eventually(t, "a refusal for want of parameters", 40*time.Second, func() error { return refusal(try(5), "not yet synced to use for admission") })
		s.readParameters(t)
	}
	eventually(t, "the policy with its parameters", time.Minute, func() error {
		if err := try(5); err != nil {
			return err
		}
		return refusal(try(6), "refused by parameters-"+on.where)
	})
}

// readParameters gives the tier's identity the right to read ConfigMaps.
func (s *semantics) readParameters(t *testing.T) {
	t.Helper()
	ctx, meta := t.Context(), metav1.ObjectMeta{Name: "parameters-of-policies"}
	if _, err := s.kube.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "seams:aggregated:" + s.tierName}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// quota counts objects of a tier and does not hold anybody to the count: the
// standalone server has no such admission, and kube-apiserver's does not see
// what it passes on.
func (s *semantics) quota(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "quota")
	create(t, s.sessions(on, ns), on.session("one", nil))
	name := corev1.ResourceName("count/sessions." + on.group)
	if _, err := s.kube.CoreV1().ResourceQuotas(ns).Create(ctx, &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "few"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{name: resource.MustParse("1")}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the count of sessions", 90*time.Second, func() error {
		q, err := s.kube.CoreV1().ResourceQuotas(ns).Get(ctx, "few", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if used, ok := q.Status.Used[name]; !ok || used.Value() != 1 {
			return fmt.Errorf("used %v", q.Status.Used)
		}
		return nil
	})
	_, err := s.sessions(on, ns).Create(ctx, on.session("two", nil), metav1.CreateOptions{})
	if on.where == "tier" {
		allowed(t, "a session beyond the quota", err)
		return
	}
	if err := refusal(err, "exceeded quota: few"); err != nil {
		t.Error(err)
	}
}
