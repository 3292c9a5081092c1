package target

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/runtime/schema"
	serveroptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admission/install"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apiserverinternal/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/extensions/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/imagepolicy/install"
	_ "k8s.io/kubernetes/pkg/apis/lifecycle/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	_ "k8s.io/kubernetes/pkg/apis/storagemigration/install"
	_ "k8s.io/kubernetes/pkg/features" // registers the gates
	"k8s.io/kubernetes/pkg/kubeapiserver"
)

const elsewhere = "http://192.0.2.1:2379"

// moved asks kube-apiserver's own storage factory where a resource is stored
// under an override.
func moved(t *testing.T, override string, gr schema.GroupResource, kind schema.GroupVersionKind) bool {
	t.Helper()
	config := kubeapiserver.NewStorageFactoryConfig()
	enabled := serverstorage.NewResourceConfig()
	for _, gv := range legacyscheme.Scheme.PrioritizedVersionsAllGroups() {
		enabled.EnableVersions(gv)
	}
	config.APIResourceConfig = enabled
	options := serveroptions.NewEtcdOptions(storagebackend.NewDefaultConfig("/registry", nil))
	options.StorageConfig.Transport.ServerList = []string{"http://127.0.0.1:2379"}
	options.EtcdServersOverrides = []string{override + "#" + elsewhere}
	factory, err := config.Complete(options).New()
	if err != nil {
		t.Fatal(err)
	}
	example, err := legacyscheme.Scheme.New(kind)
	if err != nil {
		t.Fatal(err)
	}
	got, err := factory.NewConfig(gr, example)
	if err != nil {
		t.Fatalf("%s: %v", gr, err)
	}
	return slices.Equal(got.Transport.ServerList, []string{elsewhere})
}

// TestRoutingIsUpstreams: what the table calls routable moves with its own
// override, and an alias with that of the resource it is stored as.
func TestRoutingIsUpstreams(t *testing.T) {
	mapper := testrestmapper.TestOnlyStaticRESTMapper(legacyscheme.Scheme)
	tried := 0
	for _, r := range BuiltIns(v(37)) {
		gr := schema.GroupResource{Group: r.Group, Resource: r.Resource}
		stored := gr
		if r.Storage == Alias {
			// One internal type serves both groups, and is the stored one's.
			stored.Group, stored.Resource, _ = strings.Cut(r.AliasOf, "/")
		}
		kind, err := mapper.KindFor(stored.WithVersion(""))
		if err != nil || r.Storage == MainOnly || r.Storage == Unstored {
			continue // served by another server, or never stored
		}
		tried++
		if got, want := moved(t, r.Key(), gr, kind), r.Storage == Routable; got != want {
			t.Errorf("the override of %s moves it: %t, want %t", r.Key(), got, want)
		}
		if r.Storage == Alias && !moved(t, r.AliasOf, gr, kind) {
			t.Errorf("the override of %s does not move %s", r.AliasOf, r.Key())
		}
	}
	if tried < 50 {
		t.Errorf("only %d resources tried", tried)
	}
}

// TestGatesAreUpstreams compares the newest minor's gates with those that this
// program's own modules register.
func TestGatesAreUpstreams(t *testing.T) {
	for name, spec := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		if name == "AllAlpha" || name == "AllBeta" {
			continue
		}
		g, ok := FindGate(v(37), string(name))
		stage := string(spec.PreRelease)
		if stage == "" {
			stage = StageGA
		}
		if !ok || g.Stage != stage || g.Default != spec.Default || g.Locked != spec.LockToDefault {
			t.Errorf("%s is %+v (known: %t), upstream has %+v", name, g, ok, spec)
		}
	}
}

// TestEtcdFlagsAreUpstreams compares kube-apiserver's flags for etcd with those
// that this program's own module declares.
func TestEtcdFlagsAreUpstreams(t *testing.T) {
	table, ok := Flags(v(37), KubeAPIServer)
	if !ok {
		t.Fatal("no flags")
	}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	serveroptions.NewEtcdOptions(storagebackend.NewDefaultConfig("/registry", nil)).AddFlags(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		got, ok := table.Find(f.Name)
		if !ok || got.Type != f.Value.Type() || got.Deprecated != f.Deprecated {
			t.Errorf("--%s is %+v (known: %t), upstream has type %s, %q", f.Name, got, ok, f.Value.Type(), f.Deprecated)
		}
	})
}
