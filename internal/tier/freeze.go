package tier

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"

	admission "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	policiesPath = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
	bindingsPath = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
)

// frozenPolicy refuses every write to a group, whoever makes it: kube-apiserver
// evaluates it for what it serves itself, and the tier for what it serves, since
// its admission watches the policies of the main server. What is moved is not
// written through either.
func frozenPolicy(group string, to Place) (*admission.ValidatingAdmissionPolicy, *admission.ValidatingAdmissionPolicyBinding) {
	name := journalName(group)
	meta := metav1.ObjectMeta{Name: name, Labels: map[string]string{Label: "move"}, Annotations: map[string]string{
		"seams.dev/why": fmt.Sprintf("%s is being moved to %s; seams tier move %s --resume or --rollback takes this away", group, to, group),
	}}
	fail, forbidden := admission.Fail, metav1.StatusReasonForbidden
	policy := &admission.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: meta,
		Spec: admission.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &admission.MatchResources{ResourceRules: []admission.NamedRuleWithOperations{{RuleWithOperations: admission.RuleWithOperations{
				Operations: []admission.OperationType{admission.Create, admission.Update, admission.Delete},
				Rule:       admission.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{"*/*"}},
			}}}},
			// Forbidden makes controllers try again, where Invalid may not.
			Validations: []admission.Validation{{Expression: "false", Message: group + " is being moved, and takes no writes until that is done", Reason: &forbidden}},
		},
	}
	binding := &admission.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: meta,
		Spec: admission.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admission.ValidationAction{admission.Deny},
		},
	}
	return policy, binding
}

// freezeGroup puts the policy in force; the binding last, since without its
// policy it would refuse by another message.
func freezeGroup(ctx context.Context, s *Server, group string, to Place) error {
	policy, binding := frozenPolicy(group, to)
	if err := s.apply(ctx, path.Join(policiesPath, policy.Name), false, policy, nil); err != nil {
		return fmt.Errorf("refuse writes: %w", err)
	}
	return wrap(s.apply(ctx, path.Join(bindingsPath, binding.Name), false, binding, nil), "refuse writes")
}

func thawGroup(ctx context.Context, s *Server, group string) error {
	for _, at := range []string{bindingsPath, policiesPath} {
		err := s.do(ctx, http.MethodDelete, path.Join(at, journalName(group)), nil, "", nil, nil)
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("take writes again: %w", err)
		}
	}
	return nil
}

// answer is what a write that changes nothing was answered with.
type answer int

const (
	open    answer = iota // it would have been taken
	frozen                // our policy refused it
	unclear               // something else did, before the policy was asked
)

// ask makes a write that changes nothing: a dry run of an empty patch of an
// object, or without one of a creation, which the schema may refuse first.
func ask(ctx context.Context, s *Server, group string, crd *CRD) (answer, error) {
	version := servedVersions(crd)[0]
	at := path.Join("/apis", group, version, crd.Spec.Names.Plural)
	var page struct {
		Items []struct{ Metadata metav1.ObjectMeta }
	}
	if err := s.do(ctx, http.MethodGet, at, params{"limit": "1"}, "", nil, &page); err != nil {
		return unclear, err
	}
	dry := params{"dryRun": "All", "fieldManager": fieldManager}
	namespaced := crd.Spec.Scope == "Namespaced"
	in := func(namespace string) string {
		if !namespaced {
			return at
		}
		return path.Join("/apis", group, version, "namespaces", namespace, crd.Spec.Names.Plural)
	}
	var err error
	if len(page.Items) > 0 {
		m := page.Items[0].Metadata
		err = s.do(ctx, http.MethodPatch, path.Join(in(m.Namespace), m.Name), dry, string(types.MergePatchType), json.RawMessage("{}"), nil)
	} else {
		meta := map[string]any{"name": "seams-probe"}
		if namespaced {
			meta["namespace"] = metav1.NamespaceDefault
		}
		err = s.create(ctx, in(metav1.NamespaceDefault), dry, map[string]any{
			"apiVersion": group + "/" + version, "kind": crd.Spec.Names.Kind, "metadata": meta,
		}, nil)
	}
	switch {
	case err == nil:
		return open, nil
	case strings.Contains(err.Error(), "'"+journalName(group)+"'"):
		return frozen, nil
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		return unclear, nil
	}
	return unclear, err
}

// unclearWait is how long a server has to follow a change of the policy that
// cannot be seen: upstream's admission looks every second.
const unclearWait = 10 * time.Second

// waitFor waits until every server answers as wanted, by the first of the
// definitions that shows it.
func waitFor(ctx context.Context, servers []*Server, group string, crds []*CRD, want answer) error {
	began := time.Now()
	for _, s := range servers {
		err := until(ctx, time.Minute, 200*time.Millisecond, func(ctx context.Context) error {
			silent := true
			for _, crd := range crds {
				switch got, err := ask(ctx, s, group, crd); {
				case err != nil:
					return err
				case got == want:
					return nil
				case got != unclear:
					silent = false
				}
			}
			if silent && time.Since(began) > unclearWait {
				return nil
			}
			return fmt.Errorf("%s does not follow the policy %s yet", s.Host, journalName(group))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
