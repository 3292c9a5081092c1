package scrape

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// saved reads metrics that real processes exposed, v1.37.2 and etcd v3.7.3.
func saved(t testing.TB, name string, at time.Time) *Snapshot {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := Read(f, at)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t testing.TB, text string, at time.Time) *Snapshot {
	t.Helper()
	s, err := Read(strings.NewReader(text), at)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSumsPickSeries(t *testing.T) {
	s := read(t, `# TYPE x counter
x{verb="GET",code="200"} 1
x{verb="PUT",code="200"} 2
x{verb="PUT",code="409"} 4
x{code="500"} 8
x{verb="NAN"} NaN
`, noon)
	for _, tt := range []struct {
		name  string
		ms    []Matcher
		want  float64
		found bool
	}{
		{"all", nil, 15, true},
		{"one value", []Matcher{Where("verb", "PUT")}, 6, true},
		{"two values", []Matcher{Where("verb", "PUT", "GET")}, 7, true},
		{"absent label", []Matcher{Where("verb", "")}, 8, true},
		{"not", []Matcher{WhereNot("verb", "PUT", "")}, 1, true},
		{"both", []Matcher{Where("verb", "PUT"), WhereNot("code", "200")}, 4, true},
		{"none", []Matcher{Where("verb", "LIST")}, 0, false},
	} {
		if got, found := s.Sum("x", tt.ms...); got != tt.want || found != tt.found {
			t.Errorf("%s: %v %v, want %v %v", tt.name, got, found, tt.want, tt.found)
		}
	}
	if _, found := s.Sum("y"); found || s.Has("y") || !s.Has("x") {
		t.Error("y is there, or x is not")
	}
	if got, _ := s.Max("x"); got != 8 {
		t.Errorf("largest %v, want 8", got)
	}
	if got := s.SumBy("x", "verb", Where("code", "200")); len(got) != 2 || got["PUT"] != 2 {
		t.Errorf("by verb: %v", got)
	}
}

func TestReadRefuses(t *testing.T) {
	broken := errors.New("connection lost")
	for name, tt := range map[string]struct {
		r    io.Reader
		want string
	}{
		"no metrics":     {strings.NewReader("<html>not found</html>\n"), "parse metrics text"},
		"cut line":       {strings.NewReader("x 1\ny{a=\"b"), "parse metrics text"},
		"lost":           {io.MultiReader(strings.NewReader("x 1\n"), iotest.ErrReader(broken)), "connection lost"},
		"over the limit": {strings.NewReader(strings.Repeat("# a long comment\n", 100)), "over the limit"},
	} {
		if _, err := readBounded(tt.r, noon, 1000); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	if s, err := readBounded(strings.NewReader("x 12\n"), noon, 5); err != nil || s.Bytes != 5 {
		t.Errorf("exactly the limit: %v", err)
	}
}

// Whatever a process says, reading it ends in a snapshot or an error, and every
// figure of a snapshot is a number.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"apiserver-before.txt", "etcd-before.txt"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text[:4000]), string(text[2000:6000]))
	}
	f.Add("# TYPE apiserver_request_duration_seconds histogram\napiserver_request_duration_seconds_bucket{le=\"NaN\"} -4\n", "")
	f.Add("apiserver_resource_objects{group=\"\",resource=\"\"} -1\n", "go_goroutines +Inf\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		before, err := readBounded(strings.NewReader(a), noon, 1<<16)
		if err != nil {
			return
		}
		after, err := readBounded(strings.NewReader(b), noon.Add(time.Second), 1<<16)
		if err != nil {
			return
		}
		d, err := Between(before, after)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range append(APIServer(d), Etcd(d)...) {
			if math.IsNaN(x.Value) || math.IsInf(x.Value, 0) {
				t.Errorf("%s is no finite number", x.Name)
			}
		}
		for _, c := range Calls(d) {
			if !(c.Count > 0) {
				t.Errorf("%+v has no calls", c)
			}
		}
		for _, r := range Resources(after) {
			if !(r.Objects >= 0) || !(r.EstimatedBytes >= 0) {
				t.Errorf("%+v is below zero", r)
			}
		}
	})
}
