//go:build rig

package rig_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// startSecond starts a rendered control plane whose tier is served by a second
// kube-apiserver.
func startSecond(t *testing.T) (*liveTier, *rig.Process) {
	t.Helper()
	r := start(t, rig.Options{Files: render(t, "tier-second.cue", "--rung", "churn/aggregated-tier")})
	l := &liveTier{Rig: r, kube: client(t, r, ""), dir: filepath.Join(r.Dir(), "tier")}
	name, ok := r.TierOf("hot.example.dev")
	if !ok {
		t.Fatalf("no tier has the group: %v", r.Tiers())
	}
	l.service = fmt.Sprintf("%s/%s", tierNamespace, name)
	var err error
	if l.dyn, err = dynamic.NewForConfig(r.Config("")); err != nil {
		t.Fatal(err)
	}
	if l.etcd, err = r.EtcdClient(name); err != nil {
		t.Fatal(err)
	}
	ca, err := r.PKI().Authority("aggregated/ca")
	if err != nil {
		t.Fatal(err)
	}
	l.file(t, "ca.crt", ca.Cert)
	l.url = r.TierConfig(name).Host
	server := r.TierServers(name)[0]
	if server.Component != "kube-apiserver" {
		t.Fatalf("the tier is served by %s", server.Component)
	}
	return l, server
}

// A second kube-apiserver, which is a released binary, serves a group as a tier
// does when it is rendered so, and its limits are what the documentation says of it.
func TestKubeAPIServerAsTier(t *testing.T) {
	set, err := binaries.Find("", "", "kubectl")
	if err != nil {
		t.Fatal(err)
	}
	l, server := startSecond(t)
	l.must(t, 0, "hot.example.dev/v1: widgets served by the tier", "tier", "crds", "-f", crdFile(t, "widgets.yaml"))
	s := &semantics{Rig: l.Rig, kube: l.kube, dyn: l.dyn, kubectl: set.Path("kubectl"), home: t.TempDir()}
	t.Run("Served", l.servedBySecond)
	t.Run("RBAC", func(t *testing.T) { l.secondRBAC(t, s) })
	t.Run("Tokens", l.secondTokens)
	t.Run("Explain", func(t *testing.T) {
		eventually(t, "published schemas", 90*time.Second, func() error {
			out, err := s.run(t, "", "explain", "widgets.hot.example.dev.spec.size")
			if err != nil || !strings.Contains(out, "FIELD: size <integer>") {
				return fmt.Errorf("%v: %s", err, out)
			}
			return nil
		})
	})
	t.Run("Policies", l.secondPolicies)
	t.Run("Collected", func(t *testing.T) { l.secondCollected(t, s) })
	t.Run("ServesMore", l.secondServesMore)
	t.Run("MainDown", func(t *testing.T) { l.secondAlone(t, server) })
	t.Logf("resident: %d MiB of the second kube-apiserver", resident(t, server)>>20)
}

// resident is the resident memory of a process, in bytes.
func resident(t *testing.T, p *rig.Process) int {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// servedBySecond: objects are in the second server's etcd, through main.
func (l *liveTier) servedBySecond(t *testing.T) {
	if _, err := l.dyn.Resource(widgets).Namespace("default").Create(t.Context(), widget("one"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if main, tier := l.stored(t, "/registry/hot.example.dev/"); main != 0 || tier != 1 {
		t.Errorf("%d keys in main's etcd, %d in the tier's", main, tier)
	}
	// It knows no namespaces, and so takes objects of those that are not there.
	lost := widget("lost")
	lost.SetNamespace("no-such-namespace")
	if _, err := l.dyn.Resource(widgets).Namespace("no-such-namespace").Create(t.Context(), lost, metav1.CreateOptions{}); err != nil {
		t.Errorf("in no namespace: %v", err)
	}
}

// secondRBAC: users have main's roles.
func (l *liveTier) secondRBAC(t *testing.T, s *semantics) {
	on := side{"tier", "hot.example.dev", ""}
	config := s.as(t, l.Config(""), "frank")
	frank, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	list := func() error {
		_, err := frank.Resource(widgets).Namespace("default").List(t.Context(), metav1.ListOptions{})
		return err
	}
	forbidden(t, "frank lists", list())
	meta := metav1.ObjectMeta{Name: "frank"}
	if _, err := l.kube.RbacV1().Roles("default").Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{on.group}, Resources: []string{"widgets"}, Verbs: []string{"list"}},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.kube.RbacV1().RoleBindings("default").Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta,
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "frank"}},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "frank"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "frank's rights", 15*time.Second, list)
	w := widget("frank")
	_, err = frank.Resource(widgets).Namespace("default").Create(t.Context(), w, metav1.CreateOptions{})
	forbidden(t, "frank creates", err)
}

// secondPolicies: those of the main server do not hold.
func (l *liveTier) secondPolicies(t *testing.T) {
	ctx, fail := t.Context(), admissionregistrationv1.Fail
	meta := metav1.ObjectMeta{Name: "nothing"}
	group := func(name string) admissionregistrationv1.NamedRuleWithOperations {
		return admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{name}, APIVersions: []string{"*"}, Resources: []string{"widgets", "configmaps"}},
		}}
	}
	if _, err := l.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail, Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "nothing is let through"}},
			MatchConstraints: &admissionregistrationv1.MatchResources{NamespaceSelector: in("default"),
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{group("hot.example.dev"), group("")}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: meta, Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "nothing", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy in the main server", 30*time.Second, func() error {
		_, err := l.kube.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{DryRun: []string{"All"}})
		return refusal(err, "nothing is let through")
	})
	_, err := l.dyn.Resource(widgets).Namespace("default").Create(ctx, widget("unjudged"), metav1.CreateOptions{})
	allowed(t, "a widget that the main server's policy forbids", err)
}

// secondCollected: garbage collection and the deletion of namespaces are the
// main controller manager's, and work.
func (l *liveTier) secondCollected(t *testing.T, s *semantics) {
	ctx, on := t.Context(), side{where: "second"}
	ns := s.namespace(t, on, "collected")
	owner := s.configMap(t, ns, "owner", nil)
	in := l.dyn.Resource(widgets).Namespace(ns)
	for _, name := range []string{"owned", "free"} {
		w := widget(name)
		w.SetNamespace(ns)
		if name == "owned" {
			w.SetOwnerReferences(ownedBy("v1", "ConfigMap", "owner", owner.UID))
		}
		create(t, in, w)
	}
	if err := l.kube.CoreV1().ConfigMaps(ns).Delete(ctx, "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	get := func(name string) func() error {
		return func() error { _, err := in.Get(ctx, name, metav1.GetOptions{}); return err }
	}
	gone(t, "the widget", collected, get("owned"))
	if err := l.kube.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, "the other widget", collected, get("free"))
	gone(t, "the namespace", collected, func() error {
		_, err := l.kube.CoreV1().Namespaces().Get(ctx, ns, metav1.GetOptions{})
		return err
	})
}

// secondServesMore: at its own address it has every group of kube-apiserver, to
// whoever may use them in the main server, and keeps what is written there.
func (l *liveTier) secondServesMore(t *testing.T) {
	direct, err := kubernetes.NewForConfig(l.config())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := direct.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stray"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("a ConfigMap at the second server: %v", err)
	}
	if _, err := l.kube.CoreV1().ConfigMaps("default").Get(t.Context(), "stray", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is in the main server, too: %v", err)
	}
}

// secondTokens: at its own address the cluster's tokens are good, by the rights
// they have in the cluster.
func (l *liveTier) secondTokens(t *testing.T) {
	ctx, meta := t.Context(), metav1.ObjectMeta{Name: "reader"}
	if _, err := l.kube.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := l.kube.CoreV1().ServiceAccounts("default").CreateToken(ctx, "reader", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(l.config())
	config.BearerToken = token.Status.Token
	reader, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	list := func() error {
		_, err := reader.Resource(widgets).Namespace("default").List(ctx, metav1.ListOptions{})
		return err
	}
	forbidden(t, "a ServiceAccount without rights", list())
	if _, err := l.kube.RbacV1().RoleBindings("default").Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta,
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "reader", Namespace: "default"}},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the ServiceAccount's rights", 30*time.Second, list)
	config.BearerToken = "not a token"
	if reader, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if err := list(); !apierrors.IsUnauthorized(err) {
		t.Errorf("another token: %v", err)
	}
}

// secondAlone: its probes do not ask the cluster's kube-apiserver, so that a
// kubelet leaves it alone while that is down.
func (l *liveTier) secondAlone(t *testing.T, server *rig.Process) {
	main := l.Process("kube-apiserver@cp-1")
	main.Kill()
	c, err := l.HTTPClient(server)
	if err != nil {
		t.Fatal(err)
	}
	c.Transport.(*http.Transport).TLSClientConfig.Certificates = nil // a kubelet has none
	// For longer than answers of reviews are kept.
	for began := time.Now(); time.Since(began) < 25*time.Second; time.Sleep(time.Second) {
		for _, path := range []string{"/livez", "/readyz"} {
			resp, err := c.Get(l.url + path)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.StatusCode != http.StatusOK {
				t.Fatalf("%s after %s: %s", path, time.Since(began).Round(time.Second), resp.Status)
			}
		}
	}
	if err := main.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group through kube-apiserver", time.Minute, func() error {
		_, err := l.dyn.Resource(widgets).Namespace("default").List(t.Context(), metav1.ListOptions{})
		return err
	})
}
