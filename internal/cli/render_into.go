package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/generators/kops"
	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/generators/rollout"
	"github.com/kubeseams/seams/internal/check"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/lint/read"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
	"github.com/kubeseams/seams/internal/target"
)

// Names of the merged documents among the rendered files.
const (
	mergedKops     = "cluster.yaml"
	additionalKops = "additional.yaml"
	mergedKubeadm  = "merged.yaml"
)

// into is what --into names: the documents of a cluster that is there.
type into struct {
	// name is how findings call them.
	name string
	data []byte
	// mark is the byte order mark before them, or empty: it goes before what they
	// become.
	mark string
	// present are kubeadm's documents, nil for others.
	present *kubeadm.Present
}

// readInto reads what --into names; nil without the flag.
func (r *renderer) readInto() error {
	name := r.flags.into
	if name == "" {
		return nil
	}
	r.into = &into{name: displayPath(name)}
	from := r.streams.In
	if name == "-" {
		if slices.Contains(r.flags.in.files, "-") {
			return errors.New("-f - and --into - both read standard input: give one of them a file")
		}
		r.into.name = "standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("read the documents to merge into: %w", err)
		}
		defer f.Close() // it was only read
		from = f
	}
	text := bufio.NewReader(from)
	if head, err := text.Peek(len(read.Mark)); err == nil && string(head) == read.Mark {
		r.into.mark = read.Mark
	}
	data, err := read.Bounded(text)
	if errors.Is(err, read.ErrTooBig) {
		err = fmt.Errorf("more than the %d bytes that are read; leave out what is not the control plane's", read.MaxBytes)
	}
	if err != nil {
		return fmt.Errorf("read the documents to merge into: %s: %w", r.into.name, bareError(err))
	}
	r.into.data = data
	return nil
}

// cluster gives profile and target as the documents have them: the name that
// kOps knows the cluster by, the patch release that kubeadm's runs.
func (r *renderer) cluster(s *subject) (*profile.Profile, target.Target, []finding.Finding, error) {
	if r.into == nil {
		return s.profile, s.target, nil, nil
	}
	if r.flags.in.several {
		return nil, s.target, nil, errors.New("--into merges one profile into the documents of one cluster: give one profile")
	}
	switch s.target.Platform {
	case target.Kops:
		name, err := kops.ClusterName(r.into.data, s.profile.Name)
		if err != nil {
			return nil, s.target, nil, fmt.Errorf("%s: %w", r.into.name, err)
		}
		p := *s.profile
		p.Name = name
		return &p, s.target, nil, nil
	case target.Kubeadm:
		var err error
		if r.into.present, err = kubeadm.ReadPresent(r.into.data); err != nil {
			return nil, s.target, nil, fmt.Errorf("%s: %w", r.into.name, err)
		}
		t := s.target
		v, err := target.ParseVersion(r.into.present.Version)
		if err != nil || v.Line() != t.Kubernetes.Line() {
			return s.profile, t, []finding.Finding{r.into.otherVersion(t)}, nil
		}
		if v.Patch >= 0 {
			t.Kubernetes = v
		}
		return s.profile, t, nil, nil
	}
	return nil, s.target, nil, errors.New("--into merges into kOps' or kubeadm's documents: pass --target kops or --target kubeadm too")
}

// otherVersion refuses a cluster of another minor: its flags may differ, and a
// change of version is no part of a merge.
func (i *into) otherVersion(t target.Target) finding.Finding {
	return finding.Finding{
		Code: "kubeadm-present-version", Severity: finding.Error, File: i.name, Path: "ClusterConfiguration.kubernetesVersion",
		Message: fmt.Sprintf("the cluster runs Kubernetes %q and the plan is for %s; a merge does not change the version", i.present.Version, t.Kubernetes.Line()),
		Fix:     "give the version that runs with --kubernetes, or upgrade the cluster first",
	}
}

// merge puts the plan into the documents, beside the files and the rollout that
// a cluster which is there needs.
func (r *renderer) merge(p *plan.Plan) ([]file.File, []finding.Finding, error) {
	if r.into.present != nil {
		return r.mergeKubeadm(p)
	}
	merged, additional, findings, err := kops.Merge(r.into.data, p)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.into.name, err)
	}
	files := []file.File{{Path: mergedKops, Data: merged}, rollout.Running(p)}
	if len(bytes.TrimSpace(additional)) > 0 {
		files = append(files, file.File{Path: additionalKops, Data: additional})
	}
	tiers, err := aggregated.Files(p)
	if err != nil {
		return nil, nil, err
	}
	return append(files, tiers...), r.into.say(findings), nil
}

func (r *renderer) mergeKubeadm(p *plan.Plan) ([]file.File, []finding.Finding, error) {
	merged, findings, err := r.into.present.Merge(p)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.into.name, err)
	}
	files, more, err := kubeadm.Generate(p)
	if err != nil {
		return nil, nil, err
	}
	// What makes a new cluster is not for one that runs.
	files = slices.DeleteFunc(files, func(f file.File) bool { return f.Path == "init.yaml" })
	files = append(files, file.File{Path: mergedKubeadm, Data: merged}, rollout.Running(p))
	return files, slices.Concat(r.into.say(findings), more), nil
}

// say gives findings the name of the documents that they are about.
func (i *into) say(findings []finding.Finding) []finding.Finding {
	for n := range findings {
		findings[n].File = i.name
	}
	return findings
}

// inherited makes warnings of errors in kubeadm's documents that were there
// before the merge: they are the cluster's own, which runs with them, such as a
// route to an etcd that is not among the files.
func (i *into) inherited(findings []finding.Finding, files []file.File, t target.Target) []finding.Finding {
	if i == nil || i.present == nil {
		return findings
	}
	files = slices.Clone(files)
	for n, f := range files {
		if f.Path == mergedKubeadm {
			files[n].Data = i.present.Documents()
		}
	}
	before := check.Check(check.Input{Files: files, Target: t})
	for n, f := range findings {
		if f.File == mergedKubeadm && f.Severity == finding.Error && slices.ContainsFunc(before, func(b finding.Finding) bool { return b.Code == f.Code && b.Message == f.Message }) {
			findings[n].Severity = finding.Warning
			findings[n].Message += " (as before the merge)"
		}
	}
	return findings
}

// isMerged reports whether a file is the merged documents, or a second stream of
// them, and not what goes with them.
func isMerged(path string) bool {
	return path == mergedKops || path == mergedKubeadm || path == additionalKops
}

// onOutput calls merged documents that are only printed what they are: there is
// no file of their name.
func (r *renderer) onOutput(findings []finding.Finding) []finding.Finding {
	if r.into == nil || r.stage != nil || !r.flags.output.isText() {
		return findings
	}
	for n, f := range findings {
		if isMerged(f.File) {
			findings[n].File = "merged output"
		}
	}
	return findings
}
