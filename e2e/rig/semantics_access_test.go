//go:build rig

package rig_test

import (
	"net/http"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/pki"
)

// as is a config with somebody's own client certificate.
func (s *semantics) as(t *testing.T, config *rest.Config, user string, groups ...string) *rest.Config {
	t.Helper()
	authority, err := s.PKI().Authority(pki.CA)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(pki.Leaf{CN: user, Organizations: groups, Client: true})
	if err != nil {
		t.Fatal(err)
	}
	config = rest.CopyConfig(config)
	config.CertData, config.KeyData = pair.Cert, pair.Key
	return config
}

// may gives a user or a group some verbs for the side's sessions in a namespace.
func (s *semantics) may(t *testing.T, on side, namespace, name string, subject rbacv1.Subject, verbs ...string) {
	t.Helper()
	subject.APIGroup = rbacv1.GroupName
	meta := metav1.ObjectMeta{Name: name}
	if _, err := s.kube.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{on.group}, Resources: []string{"sessions"}, Verbs: verbs},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.kube.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, Subjects: []rbacv1.Subject{subject}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func forbidden(t *testing.T, what string, err error) {
	t.Helper()
	if !apierrors.IsForbidden(err) {
		t.Errorf("%s: %v, want a refusal", what, err)
	}
}

func allowed(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// rbac holds users and groups to their roles, with certificates of their own
// and impersonated.
func (s *semantics) rbac(t *testing.T, on side) {
	ctx, ns := t.Context(), s.namespace(t, on, "rbac")
	s.may(t, on, ns, "alice", rbacv1.Subject{Kind: rbacv1.UserKind, Name: "alice"}, "get", "list", "watch", "create")
	s.may(t, on, ns, "team", rbacv1.Subject{Kind: rbacv1.GroupKind, Name: "team"}, "get", "delete")
	alice := s.as(t, s.Config(""), "alice")
	mine := sessionsAs(t, alice, on, ns)
	eventually(t, "alice's rights", 10*time.Second, func() error {
		_, err := mine.List(ctx, metav1.ListOptions{})
		return err
	})
	create(t, mine, on.session("one", nil))
	_, err := mine.Get(ctx, "one", metav1.GetOptions{})
	allowed(t, "alice gets", err)
	forbidden(t, "alice deletes", mine.Delete(ctx, "one", metav1.DeleteOptions{}))
	_, err = mine.Patch(ctx, "one", types.MergePatchType, []byte(`{"status":{"phase":"x"}}`), metav1.PatchOptions{}, "status")
	forbidden(t, "alice writes status", err)
	_, err = sessionsAs(t, alice, on, "default").List(ctx, metav1.ListOptions{})
	forbidden(t, "alice lists elsewhere", err)
	_, err = sessionsAs(t, alice, on, "").List(ctx, metav1.ListOptions{})
	forbidden(t, "alice lists everywhere", err)
	_, err = sessionsAs(t, s.as(t, s.Config(""), "bob"), on, ns).List(ctx, metav1.ListOptions{})
	forbidden(t, "bob lists", err)
	impersonated := func(by *rest.Config, user string, groups ...string) error {
		config := rest.CopyConfig(by)
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
		return sessionsAs(t, config, on, ns).Delete(ctx, "one", metav1.DeleteOptions{})
	}
	forbidden(t, "the administrator as bob deletes", impersonated(s.Config(""), "bob"))
	forbidden(t, "alice as bob of the team deletes", impersonated(alice, "bob", "team"))
	allowed(t, "the administrator as bob of the team deletes", impersonated(s.Config(""), "bob", "team"))
}

// revocation is in force through kube-apiserver at once, and at the tier's own
// address when its remembered answer is 10 seconds old.
func (s *semantics) revocation(t *testing.T) {
	ctx, on, ns := t.Context(), s.tier, s.namespace(t, s.tier, "revoked")
	s.may(t, on, ns, "carol", rbacv1.Subject{Kind: rbacv1.UserKind, Name: "carol"}, "list")
	through := sessionsAs(t, s.as(t, s.Config(""), "carol"), on, ns)
	direct := sessionsAs(t, s.as(t, s.TierConfig(s.tierName), "carol"), on, ns)
	list := func() error { _, err := through.List(ctx, metav1.ListOptions{}); return err }
	eventually(t, "carol's rights", 10*time.Second, list)
	_, err := direct.List(ctx, metav1.ListOptions{})
	allowed(t, "carol lists at the tier", err)
	if err := s.kube.RbacV1().RoleBindings(ns).Delete(ctx, "carol", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, limit time.Duration, do func() error) {
		began := time.Now()
		eventually(t, what, limit, func() error {
			if err := do(); !apierrors.IsForbidden(err) {
				return errString(err, "it is allowed")
			}
			return nil
		})
		t.Logf("%s after %s", what, time.Since(began).Round(100*time.Millisecond))
	}
	refused("refused by kube-apiserver", 3*time.Second, list)
	_, err = direct.List(ctx, metav1.ListOptions{})
	allowed(t, "carol lists at the tier as long as it remembers", err)
	refused("refused by the tier", 20*time.Second, func() error { _, err := direct.List(ctx, metav1.ListOptions{}); return err })
}

// directCalls at the tier's own address have the same rights as through
// kube-apiserver, and nobody can pretend there to be who they are not.
func (s *semantics) directCalls(t *testing.T) {
	ctx, on, ns := t.Context(), s.tier, s.namespace(t, s.tier, "direct")
	s.may(t, on, ns, "dora", rbacv1.Subject{Kind: rbacv1.UserKind, Name: "dora"}, "list")
	dora := s.as(t, s.TierConfig(s.tierName), "dora")
	mine := sessionsAs(t, dora, on, ns)
	eventually(t, "dora's rights at the tier", 20*time.Second, func() error { _, err := mine.List(ctx, metav1.ListOptions{}); return err })
	_, err := mine.Create(ctx, on.session("one", nil), metav1.CreateOptions{})
	forbidden(t, "dora creates at the tier", err)
	nobody := rest.CopyConfig(dora)
	nobody.CertData, nobody.KeyData = nil, nil
	if _, err := sessionsAs(t, nobody, on, ns).List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		t.Errorf("without a certificate: %v", err)
	}
	// The headers of the front proxy count with its certificate only.
	forged := rest.CopyConfig(dora)
	forged.WrapTransport = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("X-Remote-User", "kubernetes-super-admin")
			r.Header.Set("X-Remote-Group", "system:masters")
			return next.RoundTrip(r)
		})
	}
	_, err = sessionsAs(t, forged, on, ns).Create(ctx, on.session("one", nil), metav1.CreateOptions{})
	forbidden(t, "dora with headers of the front proxy", err)
	_, err = s.direct.Resource(crdResource).List(ctx, metav1.ListOptions{})
	allowed(t, "an administrator lists definitions at the tier", err)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
