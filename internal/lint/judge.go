package lint

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/check/kops"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/lint/read"
	"github.com/kubeseams/seams/internal/target"
)

// bigBytes is from where on a unit is judged while no other big one is.
const bigBytes = 512 << 10

// judge judges a unit. Files that upstream's code cannot bear are judged one
// by one, so that they hide nothing of the others.
func (l *linter) judge(u unit) {
	size := 0
	for _, m := range u.members {
		size += m.size
	}
	if size > bigBytes {
		l.big.Lock()
		defer l.big.Unlock()
	}
	texts := make([][]byte, len(u.members))
	findings := []finding.Finding{}
	for i, m := range u.members {
		data, err := l.read(m.path)
		if err != nil { // it was there a moment ago
			findings = append(findings, unreadable(m.path, err))
			continue
		}
		texts[i] = data
	}
	if u.apart {
		findings = append(findings, tooMany(u.members[0].path))
	}
	found, err := l.safely(u, texts)
	if err != nil && len(u.members) > 1 {
		for i, m := range u.members {
			alone, err := l.safely(unit{members: []member{m}}, texts[i:i+1])
			found = append(found, alone...)
			if err != nil {
				found = append(found, failed(m.path, err))
			}
		}
	} else if err != nil {
		found = append(found, failed(u.members[0].path, err))
	}
	findings = append(findings, found...)
	kept, suppressed := suppress(u, texts, findings)
	l.add(kept, suppressed)
}

func failed(name string, err error) finding.Finding {
	return finding.Finding{
		Code: "lint-failed", Severity: finding.Error, File: name,
		Message: fmt.Sprintf("the file could not be judged: %v", err),
		Fix:     "report it with the file, please",
	}
}

// safely judges a unit, and turns a panic of a library into an error.
func (l *linter) safely(u unit, texts [][]byte) (findings []finding.Finding, err error) {
	defer func() {
		if r := recover(); r != nil {
			findings, err = nil, fmt.Errorf("%v", r)
		}
	}()
	return l.unit(u, texts), nil
}

// unit hands a unit to package check, and puts the findings where they belong.
func (l *linter) unit(u unit, texts [][]byte) []finding.Finding {
	in := check.Input{Existing: true, Experimental: l.in.Experimental, Target: l.target(u), KopsFeatureFlags: l.in.KopsFeatureFlags}
	pieces := map[string]read.Piece{}
	var all []read.Piece
	isKops := false
	for i, m := range u.members {
		if texts[i] == nil {
			continue
		}
		if m.kind == read.Flags {
			in.Commands = append(in.Commands, read.Command(m.path, texts[i], l.in.Program, in.Target.Kubernetes))
			continue
		}
		isKops = isKops || m.kind.Has(read.Kops)
		for _, p := range l.pieces(m, texts[i]) {
			pieces[p.Name] = p
			all = append(all, p)
			in.Files = append(in.Files, file.File{Path: p.Name, Data: p.Data})
		}
	}
	names := make([]string, 0, 2*len(all))
	for _, p := range all {
		if p.Name != p.File() {
			names = append(names, p.Name, strings.TrimSuffix(p.File()+" "+p.Within(), " "))
		}
	}
	rename := strings.NewReplacer(names...)
	var findings []finding.Finding
	found := check.Check(in)
	if isKops && len(l.in.Before) > 0 {
		found = append(found, kops.Changes(l.in.Before, in.Files)...)
	}
	for _, f := range found {
		f, ok := settle(f)
		if !ok {
			continue
		}
		f.Message, f.Fix = rename.Replace(f.Message), rename.Replace(f.Fix)
		if p, ok := pieces[f.File]; ok {
			f = p.Place(f)
		} else if strings.HasPrefix(f.Path, "[") {
			f.Path = "" // a word of a command line, which its line tells
		}
		findings = append(findings, f)
	}
	return findings
}

// pieces takes a file apart and names the pieces for check, which goes by
// directories and endings.
func (l *linter) pieces(m member, data []byte) []read.Piece {
	var pieces []read.Piece
	switch {
	case m.kind.Has(read.ConfigMap) || m.kind.Has(read.Pod):
		pieces = read.Pieces(m.path, data)
	default:
		pieces = []read.Piece{read.Whole(m.path, data)}
	}
	for i, p := range pieces {
		pieces[i] = p.Named(l.name(m, m.name+strings.TrimPrefix(p.Name, m.path)))
	}
	return pieces
}

// name is a file's name as check wants it: relative, with the ending of a
// document, and in a directory patches exactly when it is a patch.
func (l *linter) name(m member, name string) string {
	name = strings.TrimLeft(name, "/")
	dir, base := path.Split(name)
	if m.kind.Has(read.Patch) {
		if path.Base(dir) != "patches" {
			dir += "patches/"
		}
		return dir + base
	}
	parts := strings.Split(dir, "/")
	for i, part := range parts {
		if part == "patches" {
			parts[i] = "patches~"
		}
	}
	if l.in.Upgrade && m.kind.Has(read.Kubeadm) && !strings.Contains(base, "upgrade") {
		base = "upgrade-" + base
	}
	if ext := path.Ext(base); ext != ".yaml" && ext != ".yml" && ext != ".json" {
		base += ".yaml"
	}
	return strings.Join(parts, "/") + base
}

// target is what the unit's files say of the version, and otherwise the input.
func (l *linter) target(u unit) target.Target {
	t := target.Target{Kubernetes: l.in.Kubernetes, Kops: l.in.Kops}
	best := tellsNothing
	for _, m := range u.members {
		if m.tells > best {
			best, t.Kubernetes = m.tells, m.version
		}
	}
	kops := slices.ContainsFunc(u.members, func(m member) bool { return m.kind.Has(read.Kops) })
	if kops && t.Kops.IsZero() && best == tellsConfig {
		// kOps installs its own minor and the two before it; the documents do
		// not say which kOps, and their own minor is the first that can.
		t.Kops = target.Version{Major: t.Kubernetes.Major, Minor: t.Kubernetes.Minor, Patch: -1}
	}
	return t
}
