package report_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/report"
)

var examples = []string{"agents", "platform", "starter", "training-15k", "training-100k"}

// made keeps what input made: the examples are read only.
var made sync.Map

// input takes an example as far as the page.
func input(t *testing.T, name string) report.Input {
	t.Helper()
	if in, ok := made.Load(name); ok {
		return in.(report.Input)
	}
	in := fresh(t, name)
	made.Store(name, in)
	return in
}

// fresh does it anew.
func fresh(t *testing.T, name string) report.Input {
	t.Helper()
	loader, err := profile.NewLoader()
	if err != nil {
		t.Fatal(err)
	}
	loaded, findings, err := loader.Load(context.Background(), profile.Options{Path: "../../recipes/examples/" + name + ".cue"})
	if err != nil || finding.AtLeast(findings, finding.Error) {
		t.Fatal(err, findings)
	}
	ladder, _, err := recipe.Load(recipe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := loaded[0].Profile
	target, err := p.Target()
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := ladder.Select(p, target, recipe.SelectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pl, _, err := plan.Make(p, loaded[0].Digest, r, target)
	if err != nil {
		t.Fatal(err)
	}
	return report.Input{
		Profile: p, Digest: loaded[0].Digest, Version: "test", Present: r.Present, After: r.Estimate,
		WhatIfs: estimate.WhatIfs(p, estimate.Stock(p)), Recipe: r, Rungs: ladder.Rungs(), Plan: pl, Findings: r.Present.Findings,
		Runs:  map[string]report.Run{"state/stock": {Standing: "proven", Date: "2026-01-02", On: "2 CPUs", Kubernetes: "1.37.2", Scale: 1, Limits: []report.RunLimit{{Text: "a <= 1", Met: true}}}},
		Words: report.Words{Verdict: "a verdict", Cluster: "a cluster", Binding: "what binds", Apiserver: "one more"},
	}
}

func page(t *testing.T, in report.Input) string {
	t.Helper()
	data, err := report.Page(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var (
	reference = regexp.MustCompile(`(?i)\b(?:href|src|srcset|action|poster|data|xlink:href)\s*=\s*"([^"]*)"`)
	outside   = regexp.MustCompile(`url\([^#][^)]*\)`)
	ids       = regexp.MustCompile(`\sid="([^"]*)"`)
	headings  = regexp.MustCompile(`<h([1-6])[ >]`)
	labelled  = regexp.MustCompile(`aria-labelledby="([^"]*)"`)
)

// A page loads nothing, and its policy forbids it to; what it refers to is in it, once.
func TestPagesStandAlone(t *testing.T) {
	for _, name := range examples {
		text := page(t, input(t, name))
		known := map[string]bool{}
		for _, m := range ids.FindAllStringSubmatch(text, -1) {
			if known[m[1]] {
				t.Errorf("%s: the id %q is there twice", name, m[1])
			}
			known[m[1]] = true
		}
		refs := reference.FindAllStringSubmatch(text, -1)
		if len(refs) < 50 {
			t.Fatalf("%s: only %d references found: the scan is broken", name, len(refs))
		}
		for _, m := range refs {
			anchor, inPage := strings.CutPrefix(m[1], "#")
			switch {
			case m[1] == "data:,":
			case !inPage:
				t.Errorf("%s: %q is not in the page", name, m[1])
			case !known[anchor]:
				t.Errorf("%s: no element has the id %q", name, anchor)
			}
		}
		for _, m := range labelled.FindAllStringSubmatch(text, -1) {
			for _, id := range strings.Fields(m[1]) {
				if !known[id] {
					t.Errorf("%s: a label %q that is not there", name, id)
				}
			}
		}
		if m := outside.FindString(text); m != "" {
			t.Errorf("%s: %s leads out of the page", name, m)
		}
		for _, bad := range []string{"<script", "@import", "<iframe", "<object", "style=\"", "onclick", "ZgotmplZ"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: the page contains %s", name, bad)
			}
		}
	}
}

// The policy allows the one style sheet by its digest and nothing else.
func TestPolicy(t *testing.T) {
	text := page(t, input(t, "starter"))
	_, rest, _ := strings.Cut(text, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if !strings.Contains(strings.NewReplacer("&#39;", "'", "&#43;", "+", "&#34;", `"`).Replace(text), want) {
		t.Errorf("the page has no policy %q", want)
	}
}

// The same input gives the same bytes, and headings do not skip a level.
func TestPagesAreStable(t *testing.T) {
	for _, name := range examples {
		in := input(t, name)
		a := page(t, in)
		if b := page(t, fresh(t, name)); a != b {
			t.Errorf("%s: two pages of one profile differ", name)
		}
		last := 0
		for _, m := range headings.FindAllStringSubmatch(a, -1) {
			level, _ := strconv.Atoi(m[1])
			if level > last+1 {
				t.Errorf("%s: a heading of level %d follows one of %d", name, level, last)
			}
			last = level
		}
		if n := strings.Count(a, "<h1"); n != 1 {
			t.Errorf("%s: %d h1", name, n)
		}
		if strings.Count(a, "<svg") != strings.Count(a, "<desc") {
			t.Errorf("%s: a drawing without a description", name)
		}
	}
}

// Every figure of today's layout is there with its formula, every rung, and
// every reason that one was rejected for.
func TestNothingIsLeftOut(t *testing.T) {
	unescape := strings.NewReplacer("&#43;", "+", "&lt;", "<", "&gt;", ">", "&#39;", "'", "&amp;", "&", "&#34;", `"`)
	for _, name := range examples {
		in := input(t, name)
		text := unescape.Replace(page(t, in))
		for _, f := range in.Present.Figures {
			if !strings.Contains(text, `>= `+f.Formula+`</p>`) || !strings.Contains(text, ">"+f.ID+"<") {
				t.Errorf("%s: no formula of %s", name, f.ID)
			}
		}
		for _, r := range in.Rungs {
			if !strings.Contains(text, r.ID) {
				t.Errorf("%s: no rung %s", name, r.ID)
			}
		}
		for _, c := range in.Recipe.Choices {
			for _, x := range c.Rejected {
				for _, reason := range x.Reasons {
					if !strings.Contains(text, reason) {
						t.Errorf("%s: %s was rejected without the reason %q", name, x.ID, reason)
					}
				}
			}
		}
		for _, s := range in.Plan.Rollout {
			if !strings.Contains(text, s.Title) {
				t.Errorf("%s: no step %q", name, s.Title)
			}
		}
	}
}

// What a profile or a rung says is text, whatever it looks like.
func TestTextIsText(t *testing.T) {
	in := input(t, "starter")
	const bad = `"><script>alert(1)</script>`
	in.Words.Verdict, in.Words.Brings = bad, []string{bad}
	in.Findings = []finding.Finding{{Code: bad, Message: bad, Path: bad, Fix: bad, Ref: bad}}
	if data, err := report.Page(in); err != nil || bytes.Contains(data, []byte("<script")) {
		t.Error("a text became a script", err)
	}
}

// Letters stand out from what is behind them by 4.5 at least, in light, in dark and in print.
func TestContrast(t *testing.T) {
	text := page(t, input(t, "starter"))
	blocks := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(text, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d palettes, want light, dark and print", len(blocks))
	}
	variable := regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]+)`)
	for i, b := range blocks {
		colours := map[string]string{}
		for _, m := range variable.FindAllStringSubmatch(b[1], -1) {
			colours[m[1]] = m[2]
		}
		pairs := [][2]string{{"calm", "calm-bg"}, {"near", "near-bg"}, {"over", "over-bg"}, {"info", "info-bg"}, {"ink", "near-bg"}, {"ink", "info-bg"}, {"muted", "near-bg"}, {"muted", "over-bg"}}
		for _, ground := range []string{"bg", "card", "soft"} {
			for _, letters := range []string{"ink", "muted", "link", "node", "churn", "state", "present", "recipe", "over", "near", "calm"} {
				pairs = append(pairs, [2]string{letters, ground})
			}
		}
		for _, p := range pairs {
			if c := contrast(t, colours[p[0]], colours[p[1]]); c < 4.5 {
				t.Errorf("palette %d: %s on %s has a contrast of %.2f", i, p[0], p[1], c)
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is WCAG's.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) == 4 {
		colour = fmt.Sprintf("#%c%c%c%c%c%c", colour[1], colour[1], colour[2], colour[2], colour[3], colour[3])
	}
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatalf("%q is no colour", colour)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
