package lint

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"testing"

	"github.com/kubeseams/seams/internal/finding"
)

// sarifOf writes a result and reads it back as plain JSON.
func sarifOf(t *testing.T, r Result) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := SARIF(&b, r, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	var log map[string]any
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	return log
}

// at follows keys and indices into JSON.
func at(t *testing.T, v any, path ...any) any {
	t.Helper()
	for _, p := range path {
		switch key := p.(type) {
		case string:
			m, ok := v.(map[string]any)
			if !ok {
				t.Fatalf("%v: no object with %q but %T", path, key, v)
			}
			v = m[key]
		case int:
			l, ok := v.([]any)
			if !ok || key >= len(l) {
				t.Fatalf("%v: no list with %d but %v", path, key, v)
			}
			v = l[key]
		}
	}
	return v
}

// fields are the properties that the schema of SARIF 2.1.0 knows for the
// objects written here; it refuses all others (additionalProperties: false).
var fields = map[string][]string{
	"log":        {"$schema", "version", "runs"},
	"run":        {"tool", "columnKind", "results"},
	"driver":     {"name", "version", "informationUri", "rules"},
	"rule":       {"id", "helpUri"},
	"result":     {"ruleId", "ruleIndex", "level", "message", "locations", "suppressions"},
	"location":   {"physicalLocation", "logicalLocations"},
	"physical":   {"artifactLocation", "region"},
	"suppressed": {"kind", "justification"},
}

func known(t *testing.T, what string, v any) map[string]any {
	t.Helper()
	m, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%s is %T", what, v)
	}
	for key := range m {
		if !slices.Contains(fields[what], key) {
			t.Errorf("%s has %q", what, key)
		}
	}
	return m
}

// TestSARIF holds the form against what SARIF 2.1.0 requires (OASIS standard
// sarif-v2.1.0, sections 3.13 to 3.35).
func TestSARIF(t *testing.T) {
	t.Parallel()
	r := Result{
		Findings: []finding.Finding{
			{Code: "b-code", Severity: finding.Error, File: "dir/a file.yaml", Line: 3, Path: "x.y[0]", Message: "m", Fix: "f", Ref: "r"},
			{Code: "a-code", Severity: finding.Info, File: "/etc/a.yaml", Message: "m"},
			{Code: "c-code", Severity: finding.Warning, Message: "about the command"},
		},
		Suppressed: []Suppressed{
			{finding.Finding{Code: "b-code", Severity: finding.Error, File: "a.yaml", Line: 1, Message: "m"}, "because", true},
			{finding.Finding{Code: "a-code", Severity: finding.Error, File: "a.yaml", Line: 1, Message: "m"}, "because", false},
		},
	}
	log := known(t, "log", any(sarifOf(t, r)))
	if log["version"] != "2.1.0" {
		t.Errorf("version %v", log["version"])
	}
	run := known(t, "run", at(t, log, "runs", 0))
	driver := known(t, "driver", at(t, run, "tool", "driver"))
	if driver["name"] != "seams" {
		t.Errorf("driver %v", driver)
	}
	rules := driver["rules"].([]any)
	ids := map[string]bool{}
	for _, rule := range rules {
		m := known(t, "rule", rule)
		if ids[m["id"].(string)] {
			t.Errorf("rule %v twice", m["id"])
		}
		ids[m["id"].(string)] = true
		if u, err := url.Parse(m["helpUri"].(string)); err != nil || u.Fragment != m["id"] {
			t.Errorf("help at %v (%v)", m["helpUri"], err)
		}
	}
	results := run["results"].([]any)
	if len(results) != 5 {
		t.Fatalf("%d results", len(results))
	}
	for _, result := range results {
		m := known(t, "result", result)
		if !slices.Contains([]any{"none", "note", "warning", "error"}, m["level"]) {
			t.Errorf("level %v", m["level"])
		}
		if at(t, rules, int(m["ruleIndex"].(float64)), "id") != m["ruleId"] {
			t.Errorf("%v is not rule %v", m["ruleId"], m["ruleIndex"])
		}
		if text, _ := at(t, m, "message", "text").(string); text == "" {
			t.Errorf("no message in %v", m)
		}
		for _, l := range list0(m["locations"]) {
			physical := known(t, "location", l)["physicalLocation"]
			known(t, "physical", physical)
			if _, err := url.Parse(at(t, physical, "artifactLocation", "uri").(string)); err != nil {
				t.Error(err)
			}
			if region := at(t, physical, "region"); region != nil && at(t, region, "startLine").(float64) < 1 {
				t.Errorf("region %v", region)
			}
		}
		for _, s := range list0(m["suppressions"]) {
			if kind := known(t, "suppressed", s)["kind"]; kind != "inSource" && kind != "external" {
				t.Errorf("suppression %v", kind)
			}
		}
	}
	for i, want := range []string{"dir/a%20file.yaml", "file:///etc/a.yaml"} {
		if got := at(t, results, i, "locations", 0, "physicalLocation", "artifactLocation", "uri"); got != want {
			t.Errorf("uri %v, want %s", got, want)
		}
	}
	if results[2].(map[string]any)["locations"] != nil {
		t.Error("a finding about no file has a location")
	}
	if got := at(t, results, 3, "suppressions", 0, "justification"); got != "because" {
		t.Errorf("justification %v", got)
	}
}

func list0(v any) []any {
	l, _ := v.([]any)
	return l
}

// TestSARIFOfNothing: a clean run has an empty list, not none.
func TestSARIFOfNothing(t *testing.T) {
	t.Parallel()
	log := sarifOf(t, Result{})
	if got, ok := at(t, log, "runs", 0, "results").([]any); !ok || len(got) != 0 {
		t.Errorf("results %v", got)
	}
}
