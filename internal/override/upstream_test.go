package override

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"pgregory.net/rapid"

	"github.com/kubeseams/seams/internal/finding"
)

// upstream runs a flag's values through kube-apiserver's own flag set and parser.
func upstream(values []string) ([]options.EtcdServerOverride, error) {
	o := options.NewEtcdOptions(storagebackend.NewDefaultConfig("/registry", nil))
	fs := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	o.AddFlags(fs)
	for _, value := range values {
		if err := fs.Set(Flag, value); err != nil {
			return nil, err
		}
	}
	return options.ParseEtcdServersOverrides(o.EtcdServersOverrides)
}

// agrees fails unless this package and upstream accept the same values and
// read the same overrides from them, and every refusal is explained.
func agrees(t interface {
	Helper()
	Errorf(string, ...any)
	Fatalf(string, ...any)
}, values []string,
) {
	t.Helper()
	want, err := upstream(values)
	got, findings := ParseAll(values)
	if (err != nil) != (got == nil) {
		t.Fatalf("%q: upstream says %v, we read %v %v", values, err, got, findings)
	}
	if err != nil {
		if !finding.AtLeast(findings, finding.Error) {
			t.Errorf("%q: refused by upstream (%v) without an error of ours: %v", values, err, findings)
		}
		return
	}
	same := slices.EqualFunc(got, want, func(a Override, b options.EtcdServerOverride) bool {
		return a.Group == b.GroupResource.Group && a.Resource == b.GroupResource.Resource && slices.Equal(a.Servers, b.Servers)
	})
	if !same {
		t.Errorf("%q: read %v, upstream %v", values, got, want)
	}
	Judge(got, v137)
}

// seeds are the flags that were run through upstream by hand: lines of the
// form [--etcd-servers-overrides=VALUE --etcd-servers-overrides=VALUE].
func seeds(t testing.TB) [][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/overrides.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		all = append(all, strings.Split(strings.TrimPrefix(line, "--"+Flag+"="), " --"+Flag+"="))
	}
	if len(all) < 20 {
		t.Fatalf("only %d seeds", len(all))
	}
	return all
}

func TestAgreesWithUpstream(t *testing.T) {
	t.Parallel()
	for _, values := range append(seeds(t), []string{""}, []string{"", "/events#a"}, []string{"a\n"}, []string{"\n"}, []string{"\"a\nb\""}) {
		agrees(t, values)
	}
}

// TestAgreesOnTokens draws values out of the pieces that mistakes are made of.
func TestAgreesOnTokens(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"/", "#", ";", ",", "\"", "'", " ", "\n", "\r", "=", "*", "events", "coordination.k8s.io", "leases", "v1",
		"registry", "https://a:2379", "http://", "b:2379", "\\", "\t", "é", "\x00",
	})
	value := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 9).Draw(t, "pieces"), "") })
	rapid.Check(t, func(rt *rapid.T) {
		agrees(rt, rapid.SliceOfN(value, 1, 3).Draw(rt, "values"))
	})
}

func FuzzParse(f *testing.F) {
	for _, values := range seeds(f) {
		f.Add(values[0], strings.Join(values[1:], ","))
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		agrees(t, []string{first})
		agrees(t, []string{first, second})
	})
}
