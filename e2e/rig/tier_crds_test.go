//go:build rig

package rig_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// crdFile writes testdata's CRD with some of its text replaced.
func crdFile(t *testing.T, name string, replace ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(replace...).Replace(string(data))
	if len(replace) > 0 && text == string(data) {
		t.Fatalf("%s has nothing of %q", name, replace)
	}
	at := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// readJSON reads a YAML file as JSON.
func readJSON(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(data)
}

func widget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "hot.example.dev/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name, "namespace": "default"}, "spec": map[string]any{"size": int64(1)},
	}}
}

var widgets = schema.GroupVersionResource{Group: "hot.example.dev", Version: "v1", Resource: "widgets"}

// definers are clients of the definitions in both servers.
func (l *liveTier) definers(t *testing.T) []dynamic.ResourceInterface {
	t.Helper()
	tier, err := dynamic.NewForConfig(l.config())
	if err != nil {
		t.Fatal(err)
	}
	return []dynamic.ResourceInterface{tier.Resource(crdResource), l.dyn.Resource(crdResource)}
}

// served reports who serves a version: "tier", "main" or "nobody".
func (l *liveTier) served(t *testing.T, name string) string {
	t.Helper()
	raw, err := l.kube.Discovery().RESTClient().Get().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices/" + name).DoRaw(t.Context())
	if apierrors.IsNotFound(err) {
		return "nobody"
	}
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		Metadata metav1.ObjectMeta
		Spec     struct {
			Service               *struct{ Name string }
			InsecureSkipTLSVerify bool
			CABundle              []byte
		}
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	switch label := a.Metadata.Labels["kube-aggregator.kubernetes.io/automanaged"]; {
	case a.Spec.Service == nil && label == "true":
		return "main"
	case a.Spec.Service != nil && label == "" && len(a.Spec.CABundle) > 0 && !a.Spec.InsecureSkipTLSVerify:
		return "tier"
	}
	return string(raw)
}

// Ordinary CRDs are installed, changed and refused in a tier, with and without
// their definition in the main server.
func TestTierCRDs(t *testing.T) {
	l := startTier(t)
	t.Run("new", l.newCRD)
	t.Run("schema", l.changeSchema)
	t.Run("versions", l.changeVersions)
	t.Run("refused", l.refuseCRDs)
	t.Run("present", l.alreadyInMain)
}

func (l *liveTier) newCRD(t *testing.T) {
	file := crdFile(t, "widgets.yaml")
	l.must(t, 0, "widgets.hot.example.dev: define in the tier (new)", "tier", "crds", "-f", file, "--keep-definition", "--dry-run")
	if _, err := l.dyn.Resource(crdResource).Get(t.Context(), "widgets.hot.example.dev", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatalf("a dry run has defined it: %v", err)
	}
	l.must(t, 0, "hot.example.dev/v1: widgets served by the tier", "tier", "crds", "-f", file, "--keep-definition")
	if _, err := l.dyn.Resource(widgets).Namespace("default").Create(t.Context(), widget("one"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if main, tier := l.stored(t, "/registry/hot.example.dev/"); main != 0 || tier != 1 {
		t.Errorf("%d keys in main's etcd, %d in the tier's", main, tier)
	}
	if _, err := l.dyn.Resource(crdResource).Get(t.Context(), "widgets.hot.example.dev", metav1.GetOptions{}); err != nil {
		t.Errorf("the definition is not in the main server: %v", err)
	}
	// Once more changes nothing.
	l.must(t, 0, "served by the tier", "tier", "crds", "-f", file, "--keep-definition")
	// The automatic one would be put back within seconds.
	time.Sleep(5 * time.Second)
	if by := l.served(t, "v1.hot.example.dev"); by != "tier" {
		t.Errorf("served by %s", by)
	}
	if _, err := l.dyn.Resource(widgets).Namespace("default").Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// A stricter schema is in force through main afterwards, and in main's copy.
func (l *liveTier) changeSchema(t *testing.T) {
	l.must(t, 0, "served by the tier", "tier", "crds", "-f", crdFile(t, "widgets.yaml", "size: {type: integer}", "size: {type: integer, maximum: 9}"))
	eventually(t, "the new schema", 10*time.Second, func() error {
		big := widget("big")
		big.Object["spec"] = map[string]any{"size": int64(10)}
		_, err := l.dyn.Resource(widgets).Namespace("default").Create(t.Context(), big, metav1.CreateOptions{DryRun: []string{"All"}})
		if !apierrors.IsInvalid(err) {
			return fmt.Errorf("a size beyond the maximum: %v", err)
		}
		return nil
	})
	crd, err := l.dyn.Resource(crdResource).Get(t.Context(), "widgets.hot.example.dev", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(crd.Object); !strings.Contains(string(text), `"maximum":9`) {
		t.Error("main's definition has not followed")
	}
}

const second = `
  - name: v2
    served: true
    storage: false
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// A version comes, becomes the stored one, and the first goes once nothing is
// stored as it.
func (l *liveTier) changeVersions(t *testing.T) {
	l.must(t, 0, "hot.example.dev/v2: widgets served by the tier", "tier", "crds", "-f", crdFile(t, "widgets.yaml", "  versions:", "  versions:"+second))
	v2 := widgets
	v2.Version = "v2"
	if _, err := l.dyn.Resource(v2).Namespace("default").Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	stored := crdFile(t, "widgets.yaml", "storage: true", "storage: false", "  versions:", "  versions:"+strings.Replace(second, "storage: false", "storage: true", 1))
	l.must(t, 0, "tier-storage-version-changed", "tier", "crds", "-f", stored)
	only := crdFile(t, "widgets.yaml", "name: v1\n", "name: v2\n")
	l.must(t, 1, "tier-stored-version-dropped", "tier", "crds", "-f", only)
	// As the finding says: every object is written, then the list is cut.
	if _, err := l.dyn.Resource(v2).Namespace("default").Patch(t.Context(), "one", types.MergePatchType, []byte(`{"metadata":{"labels":{"written":"anew"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, config := range l.definers(t) {
		if _, err := config.Patch(t.Context(), "widgets.hot.example.dev", types.MergePatchType, []byte(`{"status":{"storedVersions":["v2"]}}`), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
	l.must(t, 0, "v1.hot.example.dev: lead nowhere", "tier", "crds", "-f", only)
	time.Sleep(3 * time.Second)
	if by := l.served(t, "v1.hot.example.dev"); by != "nobody" {
		t.Errorf("v1 is served by %s", by)
	}
	if by := l.served(t, "v2.hot.example.dev"); by != "tier" {
		t.Errorf("v2 is served by %s", by)
	}
}

func (l *liveTier) refuseCRDs(t *testing.T) {
	l.must(t, 1, "tier-scope-changed", "tier", "crds", "-f", crdFile(t, "widgets.yaml", "name: v1\n", "name: v2\n", "Namespaced", "Cluster"))
	l.must(t, 1, "tier-crd-refused", "tier", "crds", "-f", crdFile(t, "widgets.yaml", "name: v1\n", "name: v2\n",
		"size: {type: integer}", "size: {type: integer, x-kubernetes-validations: [{rule: 'self > nothing'}]}"))
	l.must(t, 1, "tier-group-builtin", "tier", "crds", "-f", crdFile(t, "widgets.yaml", "hot.example.dev", "apps"))
}

// A definition that is in the main server already is taken over while it has no
// objects, and refused when it has.
func (l *liveTier) alreadyInMain(t *testing.T) {
	file := crdFile(t, "widgets.yaml", "hot.example.dev", "warm.example.dev")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.dyn.Resource(crdResource).Patch(t.Context(), "widgets.warm.example.dev", types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "test"}); err != nil {
		t.Fatal(err)
	}
	warm := widgets
	warm.Group = "warm.example.dev"
	w := widget("one")
	w.SetAPIVersion("warm.example.dev/v1")
	eventually(t, "an object", 20*time.Second, func() error {
		_, err := l.dyn.Resource(warm).Namespace("default").Create(t.Context(), w, metav1.CreateOptions{})
		return err
	})
	l.must(t, 1, "tier-has-objects", "tier", "crds", "-f", file)
	if err := l.dyn.Resource(warm).Namespace("default").Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	l.must(t, 0, "warm.example.dev/v1: widgets served by the tier", "tier", "crds", "-f", file)
	if _, err := l.dyn.Resource(warm).Namespace("default").Create(t.Context(), w, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if main, tier := l.stored(t, "/registry/warm.example.dev/"); main != 0 || tier != 1 {
		t.Errorf("%d keys in main's etcd, %d in the tier's", main, tier)
	}
	time.Sleep(3 * time.Second)
	if by := l.served(t, "v1.warm.example.dev"); by != "tier" {
		t.Errorf("served by %s", by)
	}
}
