package override

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

var v137 = target.Version{Major: 1, Minor: 37, Patch: 2}

// TestCases runs values that users have written in earnest.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		value string
		codes []string // in order; nil when nothing is wrong
		fix   string   // part of the first finding's fix
		worst finding.Severity
	}{
		{value: "/events#https://10.0.0.21:2379;https://10.0.0.22:2379"},
		{value: `"/events#https://a.internal:2379"`},
		{value: "/events#https://a.internal:2379,coordination.k8s.io/leases#https://b.internal:2379"},
		{value: "/pods#unix:///run/etcd.sock"},
		{value: ""},
		{"/events#https://10.0.0.21:2379,https://10.0.0.22:2379", []string{"override-comma-between-servers"}, `"/events#https://10.0.0.21:2379;https://10.0.0.22:2379"`, finding.Error},
		{"/events#https://a:2379,b:2379,c:2379", []string{"override-comma-between-servers", "override-comma-between-servers"}, `"/events#https://a:2379;b:2379;c:2379"`, finding.Error},
		{"events#https://10.0.0.21:2379", []string{"override-missing-slash"}, `"/events#https://10.0.0.21:2379"`, finding.Error},
		{"leases#https://a:2379", []string{"override-missing-slash"}, `"coordination.k8s.io/leases#https://a:2379"`, finding.Error},
		{"/registry/events#http://10.0.0.21:2379", []string{"override-registry-path"}, `"/events#`, finding.Error},
		{"/registry/leases#https://a:2379", []string{"override-registry-path"}, `"coordination.k8s.io/leases#`, finding.Error},
		{"/registry/leases/kube-node-lease#https://a:2379", []string{"override-registry-path"}, "write", finding.Error},
		{"/events=https://a:2379", []string{"override-missing-hash"}, `"/events#https://a:2379"`, finding.Error},
		{"v1/events#https://a:2379", []string{"override-version-in-key"}, `"/events#`, finding.Error},
		{"core/events#https://a:2379", []string{"override-wrong-group"}, `"/events#`, finding.Error},
		{"/leases#https://a:2379", []string{"override-wrong-group"}, `"coordination.k8s.io/leases#`, finding.Error},
		{"apps/pods#https://a:2379", []string{"override-wrong-group"}, `"/pods#`, finding.Error},
		{"coordination.k8s.io/v1/leases#https://a:2379", []string{"override-version-in-key"}, `"coordination.k8s.io/leases#`, finding.Error},
		{"coordination.k8s.io/leases/x#https://a:2379", []string{"override-too-many-slashes"}, "", finding.Error},
		{"coordination.k8s.io/lease#https://a:2379", []string{"override-unknown-resource"}, `"coordination.k8s.io/leases#`, finding.Error},
		{"argoproj.io/workflows#https://10.0.0.41:2379", []string{"override-custom-resource"}, "aggregated API server", finding.Error},
		{"snapshot.storage.k8s.io/volumesnapshots#https://a:2379", []string{"override-custom-resource"}, "aggregated API server", finding.Error},
		{"apiextensions.k8s.io/customresourcedefinitions#https://a:2379", []string{"override-main-only"}, "remove", finding.Error},
		{"apiregistration.k8s.io/apiservices#https://a:2379", []string{"override-main-only"}, "remove", finding.Error},
		{"authentication.k8s.io/tokenreviews#https://a:2379", []string{"override-unstored"}, "remove", finding.Error},
		{"events.k8s.io/events#https://a:2379", []string{"override-alias"}, `"/events#https://a:2379"`, finding.Error},
		{"/events#https://a:2379,events.k8s.io/events#https://a:2379", []string{"override-alias"}, "remove", finding.Info},
		{"/events#https://a:2379,events.k8s.io/events#https://b:2379", []string{"override-alias"}, `"/events#`, finding.Error},
		{"/events#https://a.internal:2379, coordination.k8s.io/leases#https://b.internal:2379", []string{"override-whitespace"}, `"coordination.k8s.io/leases#https://b.internal:2379"`, finding.Error},
		{"'/events#https://a.internal:2379'", []string{"override-quotes", "override-quotes"}, `"/events#https://a.internal:2379"`, finding.Error},
		{"/Events#https://a:2379", []string{"override-case"}, `"/events#https://a:2379"`, finding.Error},
		{"/events#a.internal:2379", []string{"override-server-scheme"}, `"https://a.internal:2379"`, finding.Error},
		{"/events#htps://a.internal:2379", []string{"override-server-scheme"}, `"https://a.internal:2379"`, finding.Error},
		{"/events#https://a.internal", []string{"override-server-port"}, `"https://a.internal:2379"`, finding.Error},
		{"/events#https://a:2379/v3", []string{"override-server-url"}, `"https://a:2379"`, finding.Error},
		{"/events#https://a:2379; https://b:2379", []string{"override-whitespace"}, `"https://b:2379"`, finding.Error},
		{"/events#https://a:2379;", []string{"override-empty-server"}, `"/events#https://a:2379"`, finding.Error},
		{"/events#", []string{"override-empty-server"}, "https://HOST:2379", finding.Error},
		{"/events#https://a:2379,", []string{"override-empty-item"}, "comma", finding.Error},
		{"/events#https://a:2379#https://b:2379", []string{"override-two-hashes"}, `"/events#https://a:2379;https://b:2379"`, finding.Error},
		{"/events#https://a:2379,/events#https://b:2379", []string{"override-duplicate"}, "keep", finding.Error},
		{"/events#https://a:2379,/events#https://a:2379", []string{"override-duplicate"}, "remove", finding.Warning},
		{"coordination.k8s.io/*#https://a:2379", []string{"override-group-wildcard"}, "", finding.Info},
		{"/*#https://a:2379", []string{"override-whole-core-group"}, "name the resources", finding.Warning},
		{"example.com/*#https://a:2379", []string{"override-custom-resource"}, "aggregated", finding.Error},
		{"/apiServerIPInfo#https://a:2379", []string{"override-endpoint-records"}, "", finding.Info},
		{"/events#https://a:2379\ncoordination.k8s.io/leases#https://b:2379", []string{"override-newline"}, "one line", finding.Error},
		{"a\"/events#https://a:2379", []string{"override-csv-quotes"}, "double quotes", finding.Error},
	} {
		t.Run(tc.value, func(t *testing.T) {
			t.Parallel()
			overrides, findings := Parse(tc.value)
			findings = append(findings, Judge(overrides, v137)...)
			var codes []string
			for _, f := range findings {
				codes = append(codes, f.Code)
			}
			if !slices.Equal(codes, tc.codes) {
				t.Fatalf("codes %q, want %q\n%v", codes, tc.codes, findings)
			}
			if len(findings) == 0 {
				return
			}
			if worst, _ := finding.Worst(findings); worst != tc.worst {
				t.Errorf("severity %s, want %s", worst, tc.worst)
			}
			if !strings.Contains(findings[0].Fix, tc.fix) {
				t.Errorf("fix %q does not say %q", findings[0].Fix, tc.fix)
			}
		})
	}
}

func TestVersionOfResource(t *testing.T) {
	t.Parallel()
	overrides, _ := Parse("lifecycle.k8s.io/evictions#https://a:2379,scheduling.k8s.io/compositepodgroups#https://a:2379")
	if got := Judge(overrides, v137); len(got) != 0 {
		t.Errorf("1.37: %v", got)
	}
	got := Judge(overrides, target.Version{Major: 1, Minor: 36, Patch: 3})
	if len(got) != 2 || got[1].Code != "override-other-version" || !strings.Contains(got[1].Fix, "1.37") {
		t.Errorf("1.36: %v", got)
	}
}

// TestRepeatedFlag: a flag given twice means the same as one joined value.
func TestRepeatedFlag(t *testing.T) {
	t.Parallel()
	values := []string{"/events#https://a:2379", "coordination.k8s.io/leases#https://b:2379"}
	twice, _ := ParseAll(values)
	joined, _ := Parse(strings.Join(values, ","))
	if diff := cmp.Diff(joined, twice); diff != "" || len(twice) != 2 {
		t.Errorf("joined and repeated differ: %s", diff)
	}
}

func generated() *rapid.Generator[[]Override] {
	name := rapid.StringMatching(`[a-z][a-z0-9.-]{0,12}`)
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) Override {
		return Override{
			Group:    rapid.OneOf(rapid.Just(""), name).Draw(t, "group"),
			Resource: name.Draw(t, "resource"),
			Servers:  rapid.SliceOfN(rapid.StringMatching(`https?://[a-z",]{1,8}:[0-9]{1,5}`), 1, 3).Draw(t, "servers"),
		}
	}))
}

// TestFormatParses: what Format writes reads back as what was given.
func TestFormatParses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := generated().Draw(t, "overrides")
		got, findings := Parse(Format(want))
		if len(findings) > 0 || !slices.EqualFunc(got, want, func(a, b Override) bool { return a.String() == b.String() }) {
			t.Fatalf("%q reads back as %v %v", Format(want), got, findings)
		}
	})
}

// TestFixesAreRight: the value that a fix quotes is itself accepted and clean.
func TestFixesAreRight(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"events#https://a:2379", "/registry/leases#https://a:2379", "v1/pods#https://a:2379", "core/secrets#https://a:2379",
		"/Events#https://a:2379", "coordination.k8s.io/v1/leases#https://a:2379", "/events#https://a:2379,https://b:2379",
		"/lease#https://a:2379", "deployments#https://a:2379", "discovery.k8s.io/endpointslice#https://a:2379", "/event#https://a:2379", "/events#https://a:2379;",
		"'/events#https://a:2379'", "/events=https://a:2379",
	} {
		overrides, findings := Parse(value)
		findings = append(findings, Judge(overrides, v137)...)
		if len(findings) == 0 {
			t.Errorf("%q: nothing found", value)
			continue
		}
		_, quoted, _ := strings.Cut(findings[0].Fix, `"`)
		fixed := strings.TrimSuffix(quoted, `"`)
		overrides, again := Parse(fixed)
		again = append(again, Judge(overrides, v137)...)
		if len(again) > 0 {
			t.Errorf("%q: the fix %q has %v", value, fixed, again)
		}
	}
}
