//go:build rig

package rig_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// run runs upstream's kubectl as an administrator, and gives all it said.
func (s *semantics) run(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.kubectl, append([]string{"--kubeconfig", s.Kubeconfig()}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+s.home)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	t.Logf("kubectl %s: %v\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	return string(out), err
}

// works is kubectl that has to succeed and say something: a regular expression.
func (s *semantics) works(t *testing.T, input, says string, args ...string) {
	t.Helper()
	if out, err := s.run(t, input, args...); err != nil || !regexp.MustCompile(says).MatchString(out) {
		t.Errorf("kubectl %s: %v, want %q in\n%s", strings.Join(args, " "), err, says, out)
	}
}

// fails is kubectl that has to fail and say why.
func (s *semantics) fails(t *testing.T, input, says string, args ...string) {
	t.Helper()
	out, err := s.run(t, input, args...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !regexp.MustCompile(says).MatchString(out) {
		t.Errorf("kubectl %s: %v, want a failure and %q in\n%s", strings.Join(args, " "), err, says, out)
	}
}

// manifest is a session as YAML.
func (on side) manifest(name, spec string) string {
	return fmt.Sprintf("apiVersion: %s/v1\nkind: Session\nmetadata: {name: %s}\nspec: {%s}\n", on.group, name, spec)
}

// kubectlWorks is what kubectl does the same on both sides.
func (s *semantics) kubectlWorks(t *testing.T, on side) {
	ns := s.namespace(t, on, "kubectl")
	in := func(args ...string) []string { return append([]string{"-n", ns}, args...) }
	s.works(t, "", `(?m)^sessions +`+on.short+` +`+on.group+`/v1 +true +Session$`, "api-resources", "--api-group="+on.group)
	s.works(t, "", `(?m)^sessions .*delete,deletecollection,get,list,patch,create,update,watch +`+on.where+`-things`, "api-resources", "--api-group="+on.group, "-o", "wide")
	s.works(t, "", `(?m)^`+on.group+`/v1beta1$`, "api-versions")
	s.works(t, on.manifest("one", "replicas: 2, note: a"), "session.*/one created", in("apply", "-f", "-")...)
	s.works(t, on.manifest("one", "replicas: 2, note: b"), "session.*/one configured", in("apply", "-f", "-")...)
	s.works(t, on.manifest("one", "replicas: 2"), "session.*/one configured", in("apply", "-f", "-")...)
	s.works(t, "", `^<none>\s*$`, in("get", "session."+on.group, "one", "-o", "custom-columns=N:.spec.note", "--no-headers")...)
	s.works(t, on.manifest("two", "note: a"), "session.*/two serverside-applied", in("apply", "--server-side", "-f", "-")...)
	s.fails(t, on.manifest("two", "note: b"), "conflict with .kubectl", in("apply", "--server-side", "--field-manager=other", "-f", "-")...)
	s.fails(t, on.manifest("two", "note: b"), `(?m)^\+  note: b$`, in("diff", "--server-side", "-f", "-")...)
	s.works(t, "", "(?m)^NAME +PHASE +REPLICAS +AGE\none +2 +[0-9]+s$", in("get", "sessions."+on.group, "one")...)
	s.works(t, "", "(?m)^NAME +PHASE +REPLICAS +NOTE +AGE\n.*\ntwo +1 +a +[0-9]+s$", in("get", on.short, "-o", "wide")...)
	s.works(t, "", "(?m)^apiVersion: "+on.group+"/v1beta1$", in("get", "sessions.v1beta1."+on.group, "one", "-o", "yaml")...)
	s.works(t, "", "v1beta1 Session is deprecated", in("get", "sessions.v1beta1."+on.group)...)
	s.works(t, "", "session.*/one\nsession.*/two", in("get", on.where+"-things", "-o", "name")...)
	s.works(t, "", "session.*/one scaled", in("scale", "session."+on.group+"/one", "--replicas=3")...)
	s.works(t, "", `session.*/one condition met`, in("wait", "session."+on.group+"/one", "--for=jsonpath={.spec.replicas}=3", "--timeout=10s")...)
	s.works(t, "", "session.*/one patched", in("patch", "session."+on.group, "one", "--type=merge", "--subresource=status", "-p", `{"status":{"phase":"Running"}}`)...)
	s.works(t, "", "session.*/one patched", in("patch", "session."+on.group, "one", "--type=json", "-p", `[{"op":"add","path":"/spec/note","value":"c"}]`)...)
	s.works(t, "", "session.*/one labeled", in("label", "session."+on.group, "one", "a=b")...)
	s.works(t, "", "(?m)^one +Running", in("get", "sessions."+on.group, "-l", "a=b")...)
	s.works(t, "", "^yes", in("auth", "can-i", "delete", "sessions."+on.group)...)
	s.describe(t, on, ns)
	s.works(t, on.manifest("one", ""), `session.* "one" deleted`, in("delete", "-f", "-", "--timeout=30s")...)
}

// describe shows an object and what was reported of it.
func (s *semantics) describe(t *testing.T, on side, namespace string) {
	t.Helper()
	u, err := s.sessions(on, namespace).Get(t.Context(), "one", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	if _, err := s.kube.CoreV1().Events(namespace).Create(t.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "one.1"}, Reason: "Woken", Message: "the agent is awake", Type: corev1.EventTypeNormal,
		FirstTimestamp: now, LastTimestamp: now, Count: 1, Source: corev1.EventSource{Component: "test"},
		InvolvedObject: corev1.ObjectReference{APIVersion: u.GetAPIVersion(), Kind: u.GetKind(), Namespace: namespace, Name: "one", UID: u.GetUID()},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.works(t, "", `(?s)Name: +one.*API Version: +`+on.group+`/v1.*Replicas: +3.*Phase: +Running.*Woken.*the agent is awake`, "-n", namespace, "describe", "session."+on.group, "one")
	s.works(t, "", `Woken`, "-n", namespace, "events", "--for", "session."+on.group+"/one")
}

// kubectlSchema is what kubectl asks the published schemas for. A tier
// publishes none, so that without a definition in the main server there is
// nothing to explain. Unknown fields are refused by the server, on both sides.
func (s *semantics) kubectlSchema(t *testing.T, on side) {
	ns := s.namespace(t, on, "schemas")
	if on.where == "main" {
		s.hasSchema(t, on, ns)
		return
	}
	s.fails(t, "", `couldn't find resource for "`+on.group+`/v1, Resource=sessions"`, "explain", "sessions."+on.group)
	s.strict(t, on, ns)
}

// strict: kubectl has the server refuse fields that the definition does not know.
func (s *semantics) strict(t *testing.T, on side, namespace string) {
	t.Helper()
	for _, verb := range []string{"create", "apply"} {
		s.fails(t, on.manifest("typo", "repliccas: 3"), `unknown field "spec.repliccas"`, "-n", namespace, verb, "-f", "-")
	}
}

// hasSchema is kubectl with a definition in the main server.
func (s *semantics) hasSchema(t *testing.T, on side, namespace string) {
	t.Helper()
	s.works(t, "", `(?s)KIND: +Session.*A session of an agent`, "explain", "sessions."+on.group)
	s.works(t, "", `(?s)FIELD: replicas <integer>.*How many`, "explain", "sessions."+on.group+".spec.replicas")
	s.works(t, "", `How many`, "explain", "sessions.spec.replicas", "--api-version="+on.group+"/v1beta1")
	s.strict(t, on, namespace)
}

// preferredVersion is the stable one, though the profile names it last: an
// APIService's priority is the same for all versions.
func (s *semantics) preferredVersion(t *testing.T, on side) {
	groups, err := s.kube.Discovery().ServerGroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups.Groups {
		if g.Name == on.group {
			if len(g.Versions) != 2 || g.PreferredVersion.Version != "v1" {
				t.Errorf("discovery: %+v", g)
			}
			return
		}
	}
	t.Errorf("discovery does not have %s", on.group)
}

// openAPI is what kube-apiserver publishes of a group.
func (s *semantics) openAPI(t *testing.T, on side) {
	want := on.where == "main"
	v2, v3 := s.published(t, on)
	if v2 != want || v3 != want {
		t.Errorf("schemas published: v2 %t, v3 %t, want %t", v2, v3, want)
	}
}

// published reports whether a group's schemas are.
func (s *semantics) published(t *testing.T, on side) (v2, v3 bool) {
	t.Helper()
	rest := s.kube.Discovery().RESTClient()
	data, err := rest.Get().AbsPath("/openapi/v3").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var index struct{ Paths map[string]any }
	if err := json.Unmarshal(data, &index); err != nil {
		t.Fatal(err)
	}
	if index.Paths["apis/apps/v1"] == nil || index.Paths["apis/apiextensions.k8s.io/v1"] == nil {
		t.Errorf("the index lacks groups of the main server")
	}
	_, v3 = index.Paths["apis/"+on.group+"/v1"]
	data, err = rest.Get().AbsPath("/openapi/v2").SetHeader("Accept", "application/json").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(data, []byte("/apis/"+on.group+"/v1/")), v3
}

// keptDefinition: with the definition in the main server as well, schemas are
// published from there, so that kubectl explains them and mutating policies
// work; nothing is stored there, and when that definition is deleted the objects
// stay.
func (s *semantics) keptDefinition(t *testing.T) {
	ctx, on, ns := t.Context(), s.tier, s.namespace(t, s.tier, "kept")
	create(t, s.sessions(on, ns), on.session("before", nil))
	definitions := s.definitions(t, on)
	for _, definition := range definitions {
		s.define(t, s.dyn, definition)
	}
	eventually(t, "published schemas", time.Minute, func() error {
		if v2, v3 := s.published(t, on); !v3 || !v2 {
			return fmt.Errorf("v2 %t, v3 %t", v2, v3)
		}
		return nil
	})
	s.hasSchema(t, on, ns)
	s.mutated(t, on)
	create(t, s.sessions(on, ns), on.session("during", nil))
	for _, name := range []string{"before", "during"} {
		s.stored(t, on, "/registry/"+on.group+"/sessions/"+ns+"/"+name)
	}
	for _, definition := range definitions {
		if err := s.dyn.Resource(crdResource).Delete(ctx, definition.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for _, definition := range definitions {
		gone(t, definition.GetName(), 30*time.Second, func() error {
			_, err := s.dyn.Resource(crdResource).Get(ctx, definition.GetName(), metav1.GetOptions{})
			return err
		})
	}
	list, err := s.sessions(on, ns).List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 2 {
		t.Errorf("without the definition in the main server: %v, %v", list, err)
	}
}
