package target

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func v(minor int) Version { return Version{Major: 1, Minor: minor, Patch: patches[minor]} }

// TestTablesParse reads every embedded table, since their readers panic on one that is broken.
func TestTablesParse(t *testing.T) {
	t.Parallel()
	for _, version := range Minors() {
		if n := len(BuiltIns(version)); n < 70 {
			t.Errorf("%s: %d resources", version, n)
		}
		if n := len(Gates(version)); n < 200 {
			t.Errorf("%s: %d gates", version, n)
		}
		if tag := EtcdVersion(version); !strings.HasPrefix(tag, "3.") {
			t.Errorf("%s: etcd %q", version, tag)
		}
		for _, component := range Components {
			table, ok := Flags(version, component)
			if !ok {
				t.Errorf("%s: no flags of %s", version, component)
				continue
			}
			if n := len(table.Names()); n < 50 {
				t.Errorf("%s: %d flags of %s", version, n, component)
			}
		}
	}
	for _, line := range etcdLines {
		if _, ok := EtcdFlags(line); !ok {
			t.Errorf("no flags of etcd %s", line)
		}
		if gates, ok := EtcdGates(line); !ok || len(gates) < 5 {
			t.Errorf("%d gates of etcd %s", len(gates), line)
		}
	}
}

func TestBuiltIn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		group, resource string
		minor           int
		want            bool
		storage         Storage
	}{
		{"", "pods", 37, true, Routable},
		{"", "events", 34, true, Routable},
		{"coordination.k8s.io", "leases", 37, true, Routable},
		{"apps", "deployments", 36, true, Routable},
		{"events.k8s.io", "events", 37, true, Alias},
		{"apiextensions.k8s.io", "customresourcedefinitions", 37, true, MainOnly},
		{"apiregistration.k8s.io", "apiservices", 35, true, MainOnly},
		{"authentication.k8s.io", "tokenreviews", 37, true, Unstored},
		{"authorization.k8s.io", "subjectaccessreviews", 34, true, Unstored},
		{"", "bindings", 37, true, Unstored},
		{"", "componentstatuses", 37, true, Unstored},
		{"", "leases", 37, false, 0},
		{"argoproj.io", "workflows", 37, false, 0},
		{"gateway.networking.k8s.io", "httproutes", 37, false, 0},
		{"snapshot.storage.k8s.io", "volumesnapshots", 37, false, 0},
		{"metrics.k8s.io", "pods", 37, false, 0},
		{"lifecycle.k8s.io", "evictions", 37, true, Routable},
		{"lifecycle.k8s.io", "evictions", 36, false, 0},
	} {
		name := fmt.Sprintf("%s/%s in 1.%d", tc.group, tc.resource, tc.minor)
		if got := BuiltIn(v(tc.minor), tc.group, tc.resource); got != tc.want {
			t.Errorf("%s: built in is %t", name, got)
		}
		if r, ok := LookUp(v(tc.minor), tc.group, tc.resource); ok && r.Storage != tc.storage {
			t.Errorf("%s: storage is %d, want %d", name, r.Storage, tc.storage)
		}
	}
	if r, _ := LookUp(v(37), "events.k8s.io", "events"); r.AliasOf != "/events" {
		t.Errorf("events.k8s.io/events is stored as %q", r.AliasOf)
	}
	if got := BuiltInsNamed(v(37), "leases"); len(got) != 1 || got[0].Key() != "coordination.k8s.io/leases" {
		t.Errorf("leases: %v", got)
	}
}

// TestUnknownVersion: a version without tables is judged by the nearest minor.
func TestUnknownVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		version Version
		want    bool // lifecycle.k8s.io is there from 1.37
	}{{Version{}, true}, {v(37), true}, {Version{1, 99, 0}, true}, {Version{2, 0, 0}, true}, {Version{1, 20, 0}, false}, {Version{0, 9, 0}, false}} {
		if got := BuiltIn(tc.version, "lifecycle.k8s.io", "evictions"); got != tc.want {
			t.Errorf("%s: %t", tc.version, got)
		}
	}
	if _, ok := Flags(Version{1, 33, 0}, KubeAPIServer); ok {
		t.Error("1.33 has a table of flags: of which version is it?")
	}
}

// TestGates holds the tables against what release notes and source say of gates
// that recipes depend on.
func TestGates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		minor  int
		stage  string // empty when the gate does not exist
		on     bool
		locked bool
	}{
		{"ShardedListAndWatch", 35, "", false, false},
		{"ShardedListAndWatch", 36, StageAlpha, false, false},
		{"ShardedListAndWatch", 37, StageAlpha, false, false},
		{"BtreeWatchCache", 36, StageGA, true, true},
		{"BtreeWatchCache", 37, "", false, false},
		{"ConsistentListFromCache", 34, StageGA, true, true},
		{"ConsistentListFromCache", 37, "", false, false},
		{"ConcurrentWatchObjectDecode", 36, StageBeta, false, false},
		{"ConcurrentWatchObjectDecode", 37, StageBeta, true, false},
		{"EtcdRangeStream", 37, StageBeta, true, false},
		{"ListFromCacheSnapshot", 34, StageBeta, true, false},
		{"AllAlpha", 34, StageAlpha, false, false},
		{"NoSuchGate", 37, "", false, false},
	} {
		g, ok := FindGate(v(tc.minor), tc.name)
		if ok != (tc.stage != "") {
			t.Errorf("%s in 1.%d: known is %t", tc.name, tc.minor, ok)
			continue
		}
		if ok && (g.Stage != tc.stage || g.Default != tc.on || g.Locked != tc.locked) {
			t.Errorf("%s in 1.%d: %+v", tc.name, tc.minor, g)
		}
	}
	if got := GateMinors("BtreeWatchCache"); !slices.Equal(got, []Version{v(34), v(35), v(36)}) {
		t.Errorf("BtreeWatchCache in %v", got)
	}
	if g, _ := FindGate(v(37), "ControllerManagerReleaseLeaderElectionLockOnExit"); g.In(KubeScheduler) || !g.In(KubeControllerManager) {
		t.Errorf("a gate of the controller manager's own: not in %v", g.NotIn)
	}
}

func TestEtcdGates(t *testing.T) {
	t.Parallel()
	old, _ := EtcdGates("3.6.8-0")
	now, _ := EtcdGates("3.7.0-0")
	if _, ok := old["FastLeaseKeepAlive"]; ok {
		t.Error("etcd 3.6 has FastLeaseKeepAlive")
	}
	if g, ok := now["FastLeaseKeepAlive"]; !ok || g.Stage != StageBeta || !g.Default {
		t.Errorf("etcd 3.7 has FastLeaseKeepAlive %+v", g)
	}
	if _, ok := EtcdGates("3.5.21"); ok {
		t.Error("etcd 3.5 has tables: of which version are they?")
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		minor           int
		component, name string
		kind            string // empty when there is no such flag
		def             string
	}{
		{37, KubeAPIServer, "etcd-servers-overrides", "stringSlice", "[]"},
		{37, KubeAPIServer, "etcd_servers_overrides", "stringSlice", "[]"},
		{37, KubeAPIServer, "max-requests-inflight", "int", "400"},
		{34, KubeAPIServer, "max-mutating-requests-inflight", "int", "200"},
		{37, KubeAPIServer, "goaway-chance", "float64", "0"},
		{37, KubeAPIServer, "event-ttl", "duration", "1h0m0s"},
		{36, KubeControllerManager, "node-monitor-grace-period", "duration", "50s"},
		{37, KubeControllerManager, "no-such-flag", "", ""},
		{35, KubeScheduler, "kube-api-burst", "int32", "100"},
		{37, KubeScheduler, "version", "version", "false"},
		{37, KubeProxy, "version", "version", "false"},
		{36, Kubelet, "config", "string", ""},
		{37, APIExtensionsServer, "etcd-servers", "stringSlice", "[]"},
		{37, APIExtensionsServer, "etcd-servers-overrides", "stringSlice", "[]"},
		{37, Etcd, "quota-backend-bytes", "int64", "0"},
		{37, Etcd, "quota_backend_bytes", "", ""},
		{37, Etcd, "version", "bool", "false"},
		{36, Etcd, "experimental-initial-corrupt-check", "bool", "false"},
		{37, Etcd, "experimental-initial-corrupt-check", "", ""},
	} {
		table, ok := Flags(v(tc.minor), tc.component)
		if !ok {
			t.Errorf("1.%d: no flags of %s", tc.minor, tc.component)
			continue
		}
		f, ok := table.Find(tc.name)
		if ok != (tc.kind != "") || f.Type != tc.kind || f.Default != tc.def {
			t.Errorf("1.%d %s --%s: known is %t, %+v", tc.minor, tc.component, tc.name, ok, f)
		}
	}
	table, _ := Flags(v(37), KubeAPIServer)
	if f, _ := table.Find("default-watch-cache-size"); f.Deprecated == "" {
		t.Error("default-watch-cache-size is not deprecated in 1.37")
	}
	if f, ok := table.FindShort("v"); !ok || f.Name != "v" {
		t.Errorf("-v is %+v", f)
	}
	if f, _ := table.Find("profiling"); f.NoOptDefault != "true" {
		t.Errorf("--profiling alone means %q", f.NoOptDefault)
	}
}

// TestSameValue: what pflag reads as one value is one; a text is only itself.
func TestSameValue(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		component, name, a, b string
		same                  bool
	}{
		{KubeAPIServer, "event-ttl", "2m30s", "150s", true},
		{KubeAPIServer, "event-ttl", "2m30s", "151s", false},
		{KubeAPIServer, "event-ttl", "x", "x", true},
		{KubeAPIServer, "event-ttl", "x", "y", false},
		{KubeAPIServer, "max-requests-inflight", "0x10", "16", true},
		{KubeAPIServer, "max-requests-inflight", "010", "8", true},
		{KubeAPIServer, "max-requests-inflight", "010", "10", false},
		{KubeAPIServer, "goaway-chance", "1e-3", "0.001", true},
		{KubeAPIServer, "profiling", "T", "true", true},
		{KubeAPIServer, "profiling", "F", "true", false},
		{KubeAPIServer, "service-account-issuer", "16", "0x10", false},
		{Etcd, "quota-backend-bytes", "0x200000000", "8589934592", true},
	} {
		table, _ := Flags(v(37), tc.component)
		f, ok := table.Find(tc.name)
		if got := f.Same(tc.a, tc.b); !ok || got != tc.same {
			t.Errorf("--%s: %s and %s are the same: %t", tc.name, tc.a, tc.b, got)
		}
	}
}

// TestFlagsThatWent: the tables know which minors had a flag.
func TestFlagsThatWent(t *testing.T) {
	t.Parallel()
	if got := FlagMinors(KubeAPIServer, "etcd-servers"); len(got) != len(Minors()) {
		t.Errorf("etcd-servers in %v", got)
	}
	if got := FlagMinors(Etcd, "experimental-initial-corrupt-check"); !slices.Equal(got, []Version{v(34), v(35), v(36)}) {
		t.Errorf("an experimental flag of etcd 3.6 in %v", got)
	}
}

func TestEtcdFlagsByImage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"3.7.3-0": true, "v3.6.8": true, "3.7-alpha": true, "3.5.21": false, "": false, "3": false, "latest": false} {
		if _, ok := EtcdFlags(text); ok != want {
			t.Errorf("%q: known is %t", text, ok)
		}
	}
}

func BenchmarkReadTables(b *testing.B) {
	for b.Loop() {
		newFlagTables("1.37/flags.json")
		newGateTable(rows[Gate]("1.37/gates.json"))
		newResourceTable(rows[Resource]("1.37/resources.json"))
	}
}
