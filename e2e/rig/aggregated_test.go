//go:build rig

package rig_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/prove/rig"
)

const hotGroup = "agents.example.dev"

// hotCRD is the definition of the hot group, as it is posted to a tier.
const hotCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"sessions.agents.example.dev"},
"spec":{"group":"agents.example.dev","scope":"Namespaced","names":{"plural":"sessions","singular":"session","kind":"Session","listKind":"SessionList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"}}}}}}}]}}`

// aggregatedRig starts a profile's rendered layout with the server of tiers.
func aggregatedRig(t *testing.T, profile string) *rig.Rig {
	t.Helper()
	set, err := binaries.Find("", "", "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcdctl", "apiextensions-apiserver")
	if err != nil {
		t.Fatal(err)
	}
	options := rig.Options{
		Files: render(t, profile, "--rung", "churn/aggregated-tier"), Bin: set, Dir: t.TempDir(), Log: t.Output(),
	}
	r, err := rig.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
	return r
}

// The rendered layout with a tier comes up, on one host and on three; its group,
// defined in the tier alone, is served through kube-apiserver, and its objects
// are in the tier's etcd and not in main's.
func TestAggregatedTier(t *testing.T) {
	for _, profile := range []string{"tier.cue", "tier-three.cue"} {
		t.Run(profile, func(t *testing.T) { aggregatedTier(t, aggregatedRig(t, profile)) })
	}
}

func aggregatedTier(t *testing.T, r *rig.Rig) {
	tier, ok := r.TierOf(hotGroup)
	if !ok {
		t.Fatalf("no tier has %s: %v", hotGroup, r.Tiers())
	}
	if _, ok := r.TierOf("other.example.dev"); ok {
		t.Error("a tier has a group that no file gives it")
	}
	placeCRD(t, r, tier)
	if err := r.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(r.Config(""))
	if err != nil {
		t.Fatal(err)
	}
	sessions := client.Resource(schema.GroupVersionResource{Group: hotGroup, Version: "v1", Resource: "sessions"}).Namespace("default")
	eventually(t, "a session through kube-apiserver", 30*time.Second, func() error {
		_, err := sessions.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": hotGroup + "/v1", "kind": "Session", "metadata": map[string]any{"name": "s1"}, "spec": map[string]any{"a": int64(1)},
		}}, metav1.CreateOptions{})
		return err
	})
	if in := keysOf(t, r, tier, "/registry/"+hotGroup+"/"); !strings.Contains(in, "/default/s1") {
		t.Errorf("the tier's etcd does not have the session: %q", in)
	}
	if in := keysOf(t, r, "main", "/registry/"+hotGroup+"/"); in != "" {
		t.Errorf("main has %q", in)
	}
	mayNot(t, r, tier)
	foreignClient(t, r, tier)
}

// placeCRD posts the definition to a tier's server, which has no discovery for
// it.
func placeCRD(t *testing.T, r *rig.Rig, tier string) {
	t.Helper()
	direct, err := kubernetes.NewForConfig(r.TierConfig(tier))
	if err != nil {
		t.Fatal(err)
	}
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	if err := direct.Discovery().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body([]byte(hotCRD)).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an established CRD", 30*time.Second, func() error {
		data, err := direct.Discovery().RESTClient().Get().AbsPath(path, "sessions."+hotGroup).DoRaw(t.Context())
		if err == nil && !strings.Contains(string(data), `"Established","status":"True"`) && !strings.Contains(string(data), `"status":"True","type":"Established"`) {
			return fmt.Errorf("not established: %.300s", data)
		}
		return err
	})
}

// keysOf lists a store's keys below a prefix.
func keysOf(t *testing.T, r *rig.Rig, store, prefix string) string {
	t.Helper()
	c, err := r.EtcdClient(store)
	if err != nil {
		t.Fatal(err)
	}
	out, err := withCertificate(t, c, c.CertFile, c.KeyFile, "get", prefix, "--prefix", "--keys-only")
	if err != nil {
		t.Fatalf("etcd %s: %v\n%s", store, err, out)
	}
	return strings.TrimSpace(out)
}

// withCertificate runs etcdctl as somebody.
func withCertificate(t *testing.T, c rig.EtcdClient, cert, key string, args ...string) (string, error) {
	t.Helper()
	words := append([]string{"--endpoints=" + strings.Join(c.Endpoints, ","), "--cacert=" + c.CAFile, "--cert=" + cert, "--key=" + key, "--command-timeout=3s"}, args...)
	out, err := exec.CommandContext(t.Context(), programs(t).Path("etcdctl"), words...).CombinedOutput()
	return string(out), err
}

// mayNot holds the tier's own identity to its rights: it reads what its
// informers need, and no Secret.
func mayNot(t *testing.T, r *rig.Rig, tier string) {
	t.Helper()
	as := rest.CopyConfig(r.Config(""))
	as.Impersonate.UserName = "seams:aggregated:" + tier
	c, err := kubernetes.NewForConfig(as)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the tier cannot list namespaces: %v", err)
	}
	if _, err := c.CoreV1().Secrets("kube-system").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("the tier lists Secrets")
	}
}

// foreignClient has main's etcd refuse the tier's client certificate, which the
// tier's own etcd takes.
func foreignClient(t *testing.T, r *rig.Rig, tier string) {
	t.Helper()
	dir := r.Dir() + "/cp-1/etc/kubernetes/pki/aggregated/" + tier + "/etcd-client"
	for store, refused := range map[string]bool{"main": true, tier: false} {
		c, err := r.EtcdClient(store)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := withCertificate(t, c, dir+".crt", dir+".key", "get", "/", "--prefix", "--limit=1", "--keys-only"); (err != nil) != refused {
			t.Errorf("etcd %s and the tier's client: %v\n%s", store, err, out)
		}
	}
}
