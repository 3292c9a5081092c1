package lint

import (
	"encoding/json"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
)

// The parts of SARIF 2.1.0 (OASIS) that a list of findings needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string `json:"id"`
		HelpURI string `json:"helpUri"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

const (
	home     = "https://github.com/kubeseams/seams"
	findings = home + "/blob/main/docs/findings.md"
)

// SARIF writes a result in the Static Analysis Results Interchange Format
// 2.1.0. Findings that somebody has answered for are in it, with the answer.
func SARIF(w io.Writer, r Result, version string) error {
	run := sarifRun{
		ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
		Tool: sarifTool{sarifDriver{Name: "seams", Version: version, InformationURI: home, Rules: []sarifRule{}}},
	}
	codes := rules(r)
	for _, code := range codes {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{code, findings + "#" + code})
	}
	add := func(f finding.Finding, s []sarifSuppression) {
		at, _ := slices.BinarySearch(codes, f.Code)
		run.Results = append(run.Results, sarifResult{
			RuleID: f.Code, RuleIndex: at, Level: level(f.Severity), Message: sarifText{sentence(f)},
			Locations: locations(f), Suppressions: s,
		})
	}
	for _, f := range r.Findings {
		add(f, nil)
	}
	for _, s := range r.Suppressed {
		kind := "external"
		if s.InSource {
			kind = "inSource"
		}
		add(s.Finding, []sarifSuppression{{kind, s.Reason}})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// rules are the codes of a result, in order.
func rules(r Result) []string {
	var codes []string
	for _, f := range r.Findings {
		codes = append(codes, f.Code)
	}
	for _, s := range r.Suppressed {
		codes = append(codes, s.Code)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

func level(s finding.Severity) string {
	if s == finding.Info {
		return "note"
	}
	return s.String()
}

// sentence is the message with the fix and the reference, which SARIF has no plain field for.
func sentence(f finding.Finding) string {
	parts := []string{f.Message}
	if f.Fix != "" {
		parts = append(parts, "Fix: "+f.Fix)
	}
	if f.Ref != "" {
		parts = append(parts, "See: "+f.Ref)
	}
	return strings.Join(parts, "\n")
}

func locations(f finding.Finding) []sarifLocation {
	var l sarifLocation
	if f.File != "" {
		l.Physical = &sarifPhysical{Artifact: sarifArtifact{uri(f.File)}}
		if f.Line > 0 {
			l.Physical.Region = &sarifRegion{f.Line}
		}
	}
	if f.Path != "" {
		l.Logical = []sarifLogical{{f.Path}}
	}
	if l.Physical == nil && l.Logical == nil {
		return nil
	}
	return []sarifLocation{l}
}

// uri writes a path as a reference: relative ones stay so, to the directory
// that the command ran in.
func uri(name string) string {
	u := url.URL{Path: path.Clean(name)}
	if path.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}
