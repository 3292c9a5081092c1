package measure_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/internal/measure"
	"github.com/kubeseams/seams/internal/scrape"
)

// FuzzSavedMetrics: whatever two pages say, they are a profile or an error, and
// no figure of it is negative or no number.
func FuzzSavedMetrics(f *testing.F) {
	f.Add(counters(1), counters(2))
	f.Add(counters(2), counters(1))
	f.Add("# TYPE apiserver_resource_objects gauge\napiserver_resource_objects{group=\"\",resource=\"nodes\"} 1e300\n", "apiserver_resource_objects{group=\"\",resource=\"nodes\"} NaN\n")
	for _, name := range []string{"cp-1-1", "cp-2-2"} {
		page, err := os.ReadFile("testdata/two-servers/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(page), string(page))
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		first, err := scrape.Read(strings.NewReader(before), time.Unix(0, 0))
		if err != nil {
			return
		}
		second, err := scrape.Read(strings.NewReader(after), time.Unix(60, 0))
		if err != nil {
			return
		}
		o, err := measure.FromMetrics([]measure.Look{{Name: "a", Before: first, After: second}}, nil)
		if err != nil {
			return
		}
		document, _, err := measure.Profile(o)
		if err != nil {
			return
		}
		for _, word := range []string{": NaN", ": -", ": +Inf", ": .inf", ": .nan", "Inf writes", "NaN writes"} {
			if text := string(document.YAML()); strings.Contains(text, word) {
				t.Fatalf("%q in\n%s", word, text)
			}
		}
	})
}
