package recipe

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/load"
	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams"
	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/profile"
)

// twins are the definitions in schemas/ and the Go types that they describe.
var twins = map[string]any{
	"#Settings":           Settings{},
	"#StoreSettings":      StoreSettings{},
	"#MainSettings":       MainSettings{},
	"#ComponentSettings":  ComponentSettings{},
	"#SchedulerSettings":  SchedulerSettings{},
	"#KubeletSettings":    KubeletSettings{},
	"#TierSettings":       TierSettings{},
	"#ColdCacheSettings":  ColdCacheSettings{},
	"#AggregatedSettings": AggregatedSettings{},
	"#ShardingSettings":   ShardingSettings{},
	"#Rung":               Rung{},
	"#Requires":           Requires{},
	"#Hazard":             Hazard{},
	"#Proof":              Proof{},
	"#ProofLimit":         ProofLimit{},
	"#Evidence":           Evidence{},
}

// schemas loads them as plain cue does, with comments.
func schemas(t testing.TB, ctx *cue.Context) cue.Value {
	t.Helper()
	v := ctx.BuildInstance(load.Instances([]string{"./schemas"}, &load.Config{FS: seams.CUE, Dir: "/"})[0])
	if err := v.Err(); err != nil {
		t.Fatal(errors.Details(err, nil))
	}
	return v
}

// TestSchemasMatchTypes holds each definition to the fields of its Go type, and
// every field to a comment.
func TestSchemasMatchTypes(t *testing.T) {
	all := schemas(t, cuecontext.New())
	for name, twin := range twins {
		def := all.LookupPath(cue.ParsePath(name))
		if !def.Exists() {
			t.Errorf("%s is not defined", name)
			continue
		}
		if len(def.Doc()) == 0 {
			t.Errorf("%s has no comment", name)
		}
		fields, err := def.Fields(cue.Optional(true))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var inCUE []string
		for fields.Next() {
			field := strings.TrimRight(fields.Selector().String(), "?!")
			inCUE = append(inCUE, field)
			if !documented(fields.Value()) {
				t.Errorf("%s.%s has no comment", name, field)
			}
		}
		slices.Sort(inCUE)
		if diff := cmp.Diff(jsonFields(reflect.TypeOf(twin)), inCUE); diff != "" {
			t.Errorf("%s (-Go +CUE):\n%s", name, diff)
		}
	}
}

func documented(v cue.Value) bool {
	for _, group := range v.Doc() {
		if strings.TrimSpace(group.Text()) != "" {
			return true
		}
	}
	return false
}

// jsonFields are the names that a type has in JSON, those of embedded structs
// included.
func jsonFields(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			names = append(names, jsonFields(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestEnvelopeMatchesMeasures holds the measures that an envelope may limit to
// those that an estimate has, and to those that a reason has words for.
func TestEnvelopeMatchesMeasures(t *testing.T) {
	def := schemas(t, cuecontext.New()).LookupPath(cue.ParsePath("#Envelope"))
	measured := estimate.Compute(&profile.Profile{}, estimate.Layout{Apiservers: 1}).Measures
	words := map[string]bool{}
	for _, axis := range estimate.Axes {
		fields, err := def.LookupPath(cue.MakePath(cue.Str(string(axis)).Optional())).Fields(cue.Optional(true))
		if err != nil {
			t.Fatal(err)
		}
		var limits []string
		for fields.Next() {
			name := strings.TrimRight(fields.Selector().String(), "?")
			limits, words[name] = append(limits, name), true
			if _, ok := measures[name]; !ok {
				t.Errorf("no words for the measure %s", name)
			}
			if !documented(fields.Value()) {
				t.Errorf("#Envelope.%s.%s has no comment", axis, name)
			}
		}
		slices.Sort(limits)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(measured[axis])), limits); diff != "" {
			t.Errorf("%s (-estimate +envelope):\n%s", axis, diff)
		}
	}
	for name := range measures {
		if !words[name] {
			t.Errorf("there are words for %s, which no envelope limits", name)
		}
	}
}

// TestSettingsSurviveCUE encodes settings with every field set, unifies them
// with #Settings and decodes them again.
func TestSettingsSurviveCUE(t *testing.T) {
	full := Settings{
		Stores:            map[string]StoreSettings{"events": {Durability: "ephemeral", QuotaGiB: 4, Members: 3}},
		Routes:            map[string]string{"/events": "events"},
		Main:              MainSettings{QuotaGiB: 8, CompactionSeconds: 150},
		Apiserver:         ComponentSettings{Flags: map[string]string{"event-ttl": "30m"}, FeatureGates: map[string]bool{"AnyGate": true}, Env: map[string]string{"GOGC": "200"}},
		ControllerManager: ComponentSettings{Flags: map[string]string{"kube-api-qps": "5"}},
		Scheduler:         SchedulerSettings{ComponentSettings: ComponentSettings{Flags: map[string]string{"v": "2"}}, QPS: 1, Burst: 2},
		Kubelet: KubeletSettings{NodeLeaseDurationSeconds: 80, NodeStatusUpdateSeconds: 10, NodeStatusReportSeconds: 300,
			KubeAPIQPS: 1, KubeAPIBurst: 2, EventRecordQPS: 3, EventBurst: 4, MaxPods: 5},
		NodeTier:      &TierSettings{NodesPerReplica: 1000, Uncached: []string{"batch/jobs"}, UncachedSelect: "custom", Flags: map[string]string{"v": "1"}},
		ConsumerTiers: map[string]TierSettings{"operators": {Replicas: 2, Serves: "custom"}},
		ColdCache:     &ColdCacheSettings{MaxListers: 1, MinBytes: 5},
		Aggregated: &AggregatedSettings{Select: "partition", MinWritesPerSecond: 1, MaxTiers: 2, TierBytes: 3, Replicas: 2,
			Durability: "durable", Members: 3, QuotaGiB: 8},
		Sharding: &ShardingSettings{Shards: 2, Field: "object.metadata.namespace", SplitControllers: map[string][]string{"jobs": {"job-controller"}}},
	}
	ctx := cuecontext.New()
	v := schemas(t, ctx).LookupPath(cue.ParsePath("#Settings")).Unify(ctx.Encode(full))
	if err := v.Validate(cue.Concrete(true)); err != nil {
		t.Fatal(err)
	}
	var got Settings
	if err := v.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full, got); diff != "" {
		t.Error(diff)
	}
}

// TestSchemasRefuse tries what a rung of somebody's own must not say.
func TestSchemasRefuse(t *testing.T) {
	ctx := cuecontext.New()
	def := schemas(t, ctx).LookupPath(cue.ParsePath("#Settings"))
	for name, text := range map[string]string{
		"unknown field":                        `{store: {}}`,
		"route of a custom one":                `{routes: "argoproj.io/workflows": "events"}`,
		"route of an x-k8s.io one":             `{routes: "agents.x-k8s.io/sandboxes": "events"}`,
		"etcd path as a route":                 `{routes: "/registry/events": "events"}`,
		"route to main":                        `{routes: "/events": "main"}`,
		"liveness of a store that may be lost": `{stores: events: {durability: "ephemeral", quotaGiB: 1, members: 1, servesLiveness: true}}`,
		"even members":                         `{stores: events: {durability: "durable", quotaGiB: 1, members: 2, servesLiveness: false}}`,
		"flag that follows":                    `{apiserver: flags: "etcd-servers-overrides": "x"}`,
		"flag with dashes":                     `{apiserver: flags: "--v": "2"}`,
		"uncached pods":                        `{nodeTier: uncached: ["/pods"]}`,
		"uncached slices":                      `{nodeTier: uncached: ["discovery.k8s.io/endpointslices"]}`,
		"update without report":                `{kubelet: nodeStatusUpdateSeconds: 10}`,
		"environment beyond Go's":              `{apiserver: env: PATH: "/"}`,
		"one shard":                            `{sharding: shards: 1}`,
		"tier that takes main's name":          `{consumerTiers: main: replicas: 1}`,
	} {
		if err := def.Unify(ctx.CompileString(text)).Validate(cue.Concrete(true)); err == nil {
			t.Errorf("%s is accepted: %s", name, text)
		}
	}
}

// TestPlainCUE loads and vets the module as cue itself would, with no help from
// this package.
func TestPlainCUE(t *testing.T) {
	ctx := cuecontext.New()
	for _, axis := range estimate.Axes {
		inst := load.Instances([]string{"./recipes/" + string(axis)}, &load.Config{FS: seams.CUE, Dir: "/"})[0]
		v := ctx.BuildInstance(inst)
		if err := v.Validate(cue.Concrete(true)); err != nil {
			t.Errorf("%s: %s", axis, errors.Details(err, nil))
		}
		fields, err := v.LookupPath(cue.ParsePath("rungs")).Fields()
		if err != nil || !fields.Next() {
			t.Errorf("%s has no rungs: %v", axis, err)
		}
	}
}
