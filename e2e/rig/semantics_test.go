//go:build rig

package rig_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// side is one of two groups with the same definitions: in the tier, and in the
// main server as a control. What holds for both is what custom resources do;
// what differs is what a tier does, and docs/tier-semantics.md says so.
type side struct {
	// where is "tier" or "main".
	where, group, short string
}

// semantics is a control plane with a tier as rendered, with both sides.
type semantics struct {
	*rig.Rig
	tierName string
	kube     kubernetes.Interface
	dyn      dynamic.Interface
	// direct is an administrator's at the tier's own server.
	direct dynamic.Interface
	hooks  *hooks
	tier   side
	main   side
	// kubectl is the program, and home where it keeps its cache.
	kubectl, home string
}

// both runs a test on both sides, the control first.
func (s *semantics) both(f func(t *testing.T, on side)) func(t *testing.T) {
	return func(t *testing.T) {
		for _, on := range []side{s.main, s.tier} {
			t.Run(on.where, func(t *testing.T) { f(t, on) })
		}
	}
}

// What custom resources do in a tier, through kube-apiserver, compared with the
// same in the main server. A case that does not work in a tier is asserted as it
// is, so that an upstream that changes it fails here.
func TestSemantics(t *testing.T) {
	s := startSemantics(t)
	for _, c := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"RBAC", s.both(s.rbac)},
		{"Revocation", s.revocation},
		{"DirectCalls", s.directCalls},
		{"Webhooks", s.both(s.webhooks)},
		{"WebhookByService", s.both(s.webhookByService)},
		{"WebhooksInTheTier", s.webhooksInTheTier},
		{"Policies", s.both(s.policies)},
		{"MutatingPolicies", s.both(s.mutatingPolicies)},
		{"PolicyParameters", s.both(s.policyParameters)},
		{"Quota", s.both(s.quota)},
		{"Schema", s.both(s.schema)},
		{"Status", s.both(s.status)},
		{"Scale", s.both(s.scale)},
		{"Autoscaler", s.both(s.autoscaler)},
		{"ServerSideApply", s.both(s.serverSideApply)},
		{"Conversion", s.both(s.conversion)},
		{"ConversionWebhook", s.both(s.conversionWebhook)},
		{"Watch", s.both(s.watch)},
		{"Selectors", s.both(s.selectors)},
		{"Bookmarks", s.both(s.bookmarks)},
		{"WatchList", s.both(s.watchList)},
		{"Resume", s.both(s.resume)},
		{"FutureVersion", s.both(s.futureVersion)},
		{"Pages", s.both(s.pages)},
		{"OwnerInMain", s.both(s.ownerInMain)},
		{"OwnerInGroup", s.both(s.ownerInGroup)},
		{"Foreground", s.both(s.foreground)},
		{"ForegroundInMain", s.both(s.foregroundInMain)},
		{"Orphan", s.both(s.orphan)},
		{"Namespace", s.both(s.namespaceDeletion)},
		{"Kubectl", s.both(s.kubectlWorks)},
		{"KubectlSchema", s.both(s.kubectlSchema)},
		{"PreferredVersion", s.both(s.preferredVersion)},
		{"OpenAPI", s.both(s.openAPI)},
		{"Operator", s.both(s.operator)},
		{"KeptDefinition", s.keptDefinition},
		{"Restart", s.restart},
	} {
		t.Run(c.name, c.run)
	}
}

func startSemantics(t *testing.T) *semantics {
	t.Helper()
	set, err := binaries.Find("", "", "kubectl")
	if err != nil {
		t.Fatal(err)
	}
	s := &semantics{
		Rig: aggregatedRig(t, "semantics.cue"), kubectl: set.Path("kubectl"), home: t.TempDir(),
		tier: side{"tier", hotGroup, "hs"}, main: side{"main", "plain.example.dev", "ps"},
	}
	s.tierName, _ = s.TierOf(hotGroup)
	s.kube = client(t, s.Rig, "")
	if s.dyn, err = dynamic.NewForConfig(s.Config("")); err != nil {
		t.Fatal(err)
	}
	if s.direct, err = dynamic.NewForConfig(s.TierConfig(s.tierName)); err != nil {
		t.Fatal(err)
	}
	s.hooks = startHooks(t, s.Rig)
	for _, definition := range s.definitions(t, s.tier) {
		s.define(t, s.direct, definition)
	}
	if err := s.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, definition := range s.definitions(t, s.main) {
		s.define(t, s.dyn, definition)
	}
	for _, on := range []side{s.main, s.tier} {
		for _, version := range []string{"v1", "v1beta1"} {
			eventually(t, on.group+"/"+version, time.Minute, func() error {
				_, err := s.dyn.Resource(on.resource("sessions", version)).List(t.Context(), metav1.ListOptions{})
				return err
			})
		}
	}
	return s
}

// definitions are testdata's, of one side.
func (s *semantics) definitions(t *testing.T, on side) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "semantics.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("GROUP", on.group, "CATEGORY", on.where+"-things", "SHORT", on.short,
		"URL", s.hooks.url, "CABUNDLE", base64.StdEncoding.EncodeToString(s.hooks.ca)).Replace(string(data))
	docs := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
	var all []*unstructured.Unstructured
	for {
		u := &unstructured.Unstructured{}
		if err := docs.Decode(&u.Object); err != nil {
			break
		}
		all = append(all, u)
	}
	if len(all) != 2 {
		t.Fatalf("%d definitions", len(all))
	}
	return all
}

// define creates a definition and waits until its kind is established.
func (s *semantics) define(t *testing.T, at dynamic.Interface, definition *unstructured.Unstructured) {
	t.Helper()
	if _, err := at.Resource(crdResource).Create(t.Context(), definition, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, definition.GetName()+" established", 30*time.Second, func() error {
		u, err := at.Resource(crdResource).Get(t.Context(), definition.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
		for _, c := range conditions {
			if fields := c.(map[string]any); fields["type"] == "Established" && fields["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("conditions %v", conditions)
	})
}

// resource is a resource of the side's group.
func (on side) resource(resource, version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: on.group, Version: version, Resource: resource}
}

// session is an object of the side.
func (on side) session(name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetAPIVersion(on.group + "/v1")
	u.SetKind("Session")
	u.SetName(name)
	return u
}

// sessions are the side's in a namespace, for an administrator.
func (s *semantics) sessions(on side, namespace string) dynamic.ResourceInterface {
	return s.dyn.Resource(on.resource("sessions", "v1")).Namespace(namespace)
}

// sessionsAs are the same for whoever a config is of.
func sessionsAs(t *testing.T, config *rest.Config, on side, namespace string) dynamic.ResourceInterface {
	t.Helper()
	d, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return d.Resource(on.resource("sessions", "v1")).Namespace(namespace)
}

// namespace makes a namespace of a test's own.
func (s *semantics) namespace(t *testing.T, on side, name string) string {
	t.Helper()
	name += "-" + on.where
	_, err := s.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return name
}

// create creates an object, and gives it as it came back.
func create(t *testing.T, in dynamic.ResourceInterface, u *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	made, err := in.Create(t.Context(), u, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create %s: %v", u.GetName(), err)
	}
	return made
}

// field is a field of an object; nil without it.
func field(u *unstructured.Unstructured, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	return v
}

// gone waits until an object is no more.
func gone(t *testing.T, what string, limit time.Duration, get func() error) {
	t.Helper()
	eventually(t, what+" is deleted", limit, func() error {
		switch err := get(); {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("it is still there")
	})
}
