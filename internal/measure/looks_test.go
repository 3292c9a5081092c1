package measure_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/measure"
	"github.com/kubeseams/seams/internal/profile"
)

// Looks that are no window, and one process under two names, are refused, all of
// them at once: what comes of them would look like rates.
func TestLooksThatAreNoWindow(t *testing.T) {
	look := func(files string, before, after string) measure.Look {
		return measure.Look{Name: files, Files: files, Before: snapshot(t, before, 0), After: snapshot(t, after, 100)}
	}
	one, two := counters(1), counters(2)
	for _, c := range []struct {
		name              string
		apiservers, etcds []measure.Look
		want              []string
	}{
		{"swapped", []measure.Look{look("a1,a2", two, one)}, nil, []string{"a1,a2: counters fall while the process is the same, etcd_request_errors_total, etcd_requests_total: the looks are swapped"}},
		{"a swapped etcd", []measure.Look{look("a1,a2", one, two)}, []measure.Look{look("e1,e2", startedAt(5, two), startedAt(5, one))}, []string{"e1,e2: counters fall"}},
		{"one look twice", []measure.Look{look("a1,a1", one, one)}, nil, []string{"a1,a1: both looks are the same page"}},
		{"two processes", []measure.Look{look("a1,b2", startedAt(3000, one), two)}, nil, []string{"a1,b2: the process of the later look began before"}},
		{"given twice", []measure.Look{look("a1,a2", one, two), look("b1,b2", one, two)}, nil, []string{"a1,a2 and b1,b2 are of one process"}},
		{"given twice, some seconds apart", []measure.Look{look("a1,a2", one, two), look("b1,b2", two, counters(3))}, nil, []string{"a1,a2 and b1,b2 are of one process"}},
		{"as an etcd, too", []measure.Look{look("a1,a2", one, two)}, []measure.Look{{Name: "a2", After: snapshot(t, two, 0)}}, []string{"a1,a2 and a2 are of one process"}},
		{"all at once", []measure.Look{look("a1,a2", two, one), look("b1,b2", one, one)}, nil, []string{"a1,a2: counters fall", "b1,b2: both looks", "a1,a2 and b1,b2 are of one process"}},
	} {
		_, err := measure.FromMetrics(c.apiservers, c.etcds)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.name, err, want)
			}
		}
	}
}

// Pages without a time of start may be of a restart, or swapped: both are said.
func TestRestartUntold(t *testing.T) {
	untold := func(k int) string { return strings.ReplaceAll(counters(k), "process_start_time_seconds", "y") }
	o, err := measure.FromMetrics([]measure.Look{{Name: "a", Before: snapshot(t, untold(9), 0), After: snapshot(t, untold(1), 100)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, findings, _ := profileOf(t, t.TempDir(), o)
	for _, f := range findings {
		if f.Code == "measure-restarted" && strings.Contains(f.Message, "or its looks are swapped") {
			return
		}
	}
	t.Error(findings)
}

// What counts nothing is not seen, and said: the profile loads whatever it is.
func TestUncounted(t *testing.T) {
	for _, value := range []string{"+Inf", "1e30", "NaN", "-Inf"} {
		spoil := func(text string) string {
			var lines []string
			for _, line := range strings.Split(text, "\n") {
				series, number, _ := strings.Cut(line, " ")
				if strings.Contains(series, `"things"`) || strings.Contains(series, `"pods"`) || strings.HasPrefix(series, "process_resident") || strings.HasPrefix(series, "apiserver_storage_size") {
					number = value
				}
				lines = append(lines, strings.TrimSuffix(series+" "+number, " "))
			}
			return strings.Join(lines, "\n")
		}
		o, err := measure.FromMetrics([]measure.Look{{Name: "a", Before: snapshot(t, counters(1), 0), After: snapshot(t, spoil(counters(2)), 100)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, findings, text := profileOf(t, t.TempDir(), o)
		if len(p.Churn.Resources) != 0 || len(p.State.Resources) != 1 || p.Nodes.PodsPerNode != 0 {
			t.Errorf("%s: %s", value, text)
		}
		if codes(findings)["measure-uncounted"] != 1 {
			t.Errorf("%s: no finding: %v", value, findings)
		}
		if strings.Contains(text, "Inf") || strings.Contains(text, "9223372036854775808") {
			t.Errorf("%s: %s", value, text)
		}
	}
}

// A load balancer leads to another apiserver at each look: what there is is told,
// and no rates are made of it.
func TestLooksThroughLoadBalancer(t *testing.T) {
	o := throughBalancer(t, nil, func(n int) string { return startedAt(1000-300*(n%2), counters(n)) })
	if len(o.Apart) != 1 || o.Seconds != 0 {
		t.Errorf("%+v over %v s", o.Apart, o.Seconds)
	}
	p, findings, _ := profileOf(t, t.TempDir(), o)
	if p.Nodes.Count != 200 || len(p.Churn.Resources) != 0 || codes(findings)["measure-looks-apart"] != 1 || codes(findings)["measure-no-window"] != 1 {
		t.Error(findings)
	}
}

// Two addresses of one apiserver are one apiserver.
func TestServerTwice(t *testing.T) {
	for _, twice := range []string{"%s %s", "%s %s/"} {
		o := throughBalancer(t, &twice, counters)
		things := o.Kinds[profile.GroupResource{Group: "a.example.dev", Resource: "things"}]
		if len(o.Servers) != 1 || math.Abs(things.Creates-100) > 1e-9 {
			t.Errorf("%s: %d servers, %v creations", twice, len(o.Servers), things.Creates)
		}
	}
}

// throughBalancer measures a fake cluster that says what page makes of the
// number of the look, by the kubeconfig's address or the ones of a format.
func throughBalancer(t *testing.T, servers *string, page func(int) string) *measure.Observation {
	t.Helper()
	looks := 0
	mux := http.NewServeMux()
	mux.HandleFunc("/version", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"gitVersion":"v1.37.2"}`) })
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) { looks++; io.WriteString(w, page(looks)) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	options := measure.Options{Config: &rest.Config{Host: server.URL}, Window: 10 * time.Millisecond}
	if servers != nil {
		options.Servers = strings.Fields(fmt.Sprintf(*servers, server.URL, server.URL))
	}
	o, err := measure.Live(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
