package profile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"github.com/google/go-cmp/cmp"
)

// full is a profile with every field set, to a value that is nobody's default.
func full() *Profile {
	return &Profile{
		Name: "full", Kubernetes: "1.35.4",
		Platform: Platform{Kind: "kops", Kops: &Kops{Version: "1.35.2", Cloud: "gce", DNSNone: true}},
		Nodes: Nodes{
			Count: 1, TargetCount: 2, LeaseDurationSeconds: 3, StatusUpdateSeconds: 4, StatusReportSeconds: 5, MonitorGraceSeconds: 6,
			NodeBytes: 7, PodsPerNode: 8, PodBytes: 9, PodChurnPerSecond: 10.5, WatchesPerNode: 11,
		},
		Churn: Churn{
			Resources: []ChurnResource{{
				GroupResource: GroupResource{"a.example.dev", "things"}, CreatesPerSecond: 1.5, UpdatesPerSecond: 2.5, DeletesPerSecond: 3.5,
				Sessions: &Sessions{PerMinute: 4.5, WritesPerSession: 5.5}, ObjectBytes: 6, Live: 7, Watchers: 8, Scope: "node", Shape: "opaque",
			}},
			Events: Events{PerSecond: 1.25, Bytes: 2, TTLSeconds: 3}, LeaderElections: 4,
		},
		State: State{
			Resources: []StateResource{{GroupResource: GroupResource{"a.example.dev", "things"}, Count: 1, Bytes: 2, Listers: 3, Shape: "opaque"}},
			CRDs:      4, RBACObjects: 5,
		},
		ControlPlane: ControlPlane{
			Endpoint: "api.example.com:6443", NodeEndpoint: "[fd00::1]:6443", Hosts: []Host{{"cp-1", "fd00::11"}}, Apiservers: 2, CPU: 3,
			MemoryGiB: 4.5, Disk: "network", FsyncP99Ms: 5.5, EtcdDisks: 6, EtcdQuotaGiB: 7.5,
			Network: Network{PodCIDR: "fd01::/48", ServiceCIDR: "fd02::/112", NodeMaskSize: 64},
			Tiers: Tiers{Server: "kube-apiserver",
				Image: "registry.example.dev/apiextensions-apiserver:v1", Form: "workload", StorageClass: "fast",
				Groups: []TierGroup{{Group: "a.example.dev", Versions: []string{"v1", "v1beta1"}}},
			},
		},
	}
}

// TestSchemaAcceptsGo encodes the Go struct with every field set: #Profile must
// take it unchanged.
func TestSchemaAcceptsGo(t *testing.T) {
	p := full()
	noZero(t, reflect.ValueOf(*p), "Profile")
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	got, found := loadText(t, JSON, string(text))
	for _, f := range found {
		if strings.HasPrefix(f.Code, "profile-") {
			t.Error(f)
		}
	}
	if len(got) != 1 {
		t.Fatal("the schema refused it")
	}
	if diff := cmp.Diff(p, got[0].Profile); diff != "" {
		t.Errorf("the profile changed on its way (-want +got):\n%s", diff)
	}
}

// noZero fails for every field that full left unset.
func noZero(t *testing.T, v reflect.Value, at string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			noZero(t, v.Elem(), at)
			return
		}
	case reflect.Struct:
		for i := range v.NumField() {
			noZero(t, v.Field(i), at+"."+v.Type().Field(i).Name)
		}
		return
	case reflect.Slice:
		for i := range v.Len() {
			noZero(t, v.Index(i), fmt.Sprintf("%s[%d]", at, i))
		}
	}
	if v.IsZero() {
		t.Errorf("%s is not set in the full profile", at)
	}
}

// TestFieldsMatch walks the Go types and the schema side by side: the same
// fields in the same kinds, and a doc comment that begins with the name.
func TestFieldsMatch(t *testing.T) {
	s, err := newSchema(&embedded{})
	if err != nil {
		t.Fatal(err)
	}
	matchFields(t, reflect.TypeFor[Profile](), s.shape, "#Profile")
	documented(t, s.profile, "#Profile")
}

func matchFields(t *testing.T, typ reflect.Type, s *shape, at string) {
	switch typ.Kind() {
	case reflect.Pointer:
		matchFields(t, typ.Elem(), s, at)
	case reflect.Slice:
		if s.kind != kindList {
			t.Errorf("%s is a list in Go, %s in CUE", at, s.kind)
			return
		}
		matchFields(t, typ.Elem(), s.elem, at+"[]")
	case reflect.Struct:
		known := map[string]bool{}
		for name, ft := range jsonFields(typ) {
			known[name] = true
			if sub := s.field(name); sub != nil {
				matchFields(t, ft, sub, at+"."+name)
			} else {
				t.Errorf("%s.%s is in Go, not in CUE", at, name)
			}
		}
		for _, f := range s.fields {
			if !known[f.name] {
				t.Errorf("%s.%s is in CUE, not in Go", at, f.name)
			}
		}
	default:
		want := map[reflect.Kind]kind{reflect.Int: kindInt, reflect.Float64: kindNumber, reflect.String: kindString, reflect.Bool: kindBool}[typ.Kind()]
		if s.kind != want {
			t.Errorf("%s is %s in Go, %s in CUE", at, typ.Kind(), s.kind)
		}
		if _, err := s.readLeaf(); err != nil {
			t.Errorf("%s: %v", at, err)
		}
		if (s.kind == kindInt || s.kind == kindNumber) && (s.leaf().lower == "" || s.leaf().upper == "") {
			t.Errorf("%s lacks a bound: %s", at, s.want())
		}
	}
}

// jsonFields are a struct's fields by JSON name, those of embedded ones included.
func jsonFields(typ reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Anonymous {
			for name, ft := range jsonFields(f.Type) {
				out[name] = ft
			}
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = f.Type
	}
	return out
}

func documented(t *testing.T, v cue.Value, at string) {
	switch v.IncompleteKind() {
	case cue.ListKind:
		documented(t, v.LookupPath(cue.MakePath(cue.AnyIndex)), at+"[]")
		return
	case cue.StructKind:
	default:
		return
	}
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		t.Fatal(err)
	}
	for it.Next() {
		name := it.Selector().Unquoted()
		docs := it.Value().Doc()
		if len(docs) == 0 || !strings.HasPrefix(docs[0].Text(), name+" ") {
			t.Errorf("%s.%s has no doc comment that begins with its name", at, name)
		}
		documented(t, it.Value(), at+"."+name)
	}
}
