package diff

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	kyaml "sigs.k8s.io/yaml"

	check "github.com/kubeseams/seams/internal/check/kops"
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/target"
	"github.com/kubeseams/seams/internal/yamltext"
)

// Input is what is compared.
type Input struct {
	Existing *Existing
	Plan     *plan.Plan
	Recipe   *recipe.Recipe
	// Before is the stream that the plan was merged into, and Merged what came of
	// it: the same documents in the same order, and new ones after them. Both are
	// nil when there was nothing to merge into.
	Before, Merged []byte
	// Rendered are the other files of the rendering, without headers that differ
	// from run to run.
	Rendered []file.File
}

// Compare says what would change. An error means that a document cannot be read
// or edited.
func Compare(in Input) (*Diff, error) {
	p := in.Plan
	d := &Diff{
		Profile: p.Name, Platform: string(p.Target.Platform), Version: p.Target.Kubernetes.String(), Rungs: p.Rungs,
		Documents: []Document{}, NotCompared: []string{}, Instructions: []string{}, Rollout: []Step{}, Hazards: []Hazard{}, Findings: []finding.Finding{},
	}
	c := &comparison{Input: in, diff: d, asker: newAsker(in.Recipe, p), present: map[string]bool{}, standing: map[string]bool{}}
	if err := c.merged(); err != nil {
		return nil, err
	}
	if p.Target.Platform != target.Kops {
		if err := c.pods(); err != nil {
			return nil, err
		}
	}
	if err := c.rendered(); err != nil {
		return nil, err
	}
	if p.Target.Platform == target.Kops {
		c.kopsChanges()
	}
	d.Changed = len(d.Documents) > 0
	d.Ignored = in.Existing.ignored()
	if d.Changed {
		c.rollout()
		d.Hazards = c.asker.hazards()
	}
	finding.Sort(d.Findings)
	return d, nil
}

// comparison is one call of Compare.
type comparison struct {
	Input
	diff  *Diff
	asker *asker
	// present are the rendered manifests that stand in some form, standing those
	// that stand as they are wanted.
	present, standing map[string]bool
	// objects are the existing objects, and kinds those that any is of.
	objects map[objectKey]*document
	kinds   map[objectKey]bool
}

// merged compares the stream with what the merge made of it.
func (c *comparison) merged() error {
	if c.Merged == nil {
		return nil
	}
	before, after := filled(c.Before), filled(c.Merged)
	docs := c.streamed()
	if len(docs) != len(before) || len(after) < len(before) {
		return fmt.Errorf("the merge was made into %d documents and came to %d, of %d that were read", len(before), len(after), len(docs))
	}
	for i, doc := range docs {
		doc.seen = true
		if bytes.Equal(before[i].Text, after[i].Text) {
			continue
		}
		if err := c.changed(doc, after[i].Text, c.who(doc)); err != nil {
			return err
		}
	}
	for _, t := range after[len(before):] {
		var value map[string]any
		if err := kyaml.Unmarshal(t.Text, &value); err != nil {
			return err
		}
		last := docs[len(docs)-1]
		c.diff.Documents = append(c.diff.Documents, Document{
			File: last.file, Object: identity(value), Action: ActionAdd, New: value, after: t.Text,
			Reasons: []Reason{{Profile: "controlPlane.apiservers"}},
		})
	}
	return nil
}

// kopsChanges says what of the changes kOps refuses or leaves to the cloud. The
// plan itself makes none of those; an overlay may.
func (c *comparison) kopsChanges() {
	name := "cluster.yaml"
	for _, f := range c.Existing.kopsFiles() {
		name = f.Path
	}
	before, after := []file.File{{Path: "before.yaml", Data: c.Before}}, []file.File{{Path: "after.yaml", Data: c.Merged}}
	for _, f := range check.Changes(before, after) {
		f.File, f.Line = name, 0 // the line is one of the merged text, which nobody has
		c.diff.Findings = append(c.diff.Findings, f)
	}
}

// filled are a stream's documents that are not blank.
func filled(stream []byte) []yamltext.Document {
	return slices.DeleteFunc(yamltext.Split(stream), yamltext.Document.Blank)
}

// streamed are the existing documents that the stream is made of.
func (c *comparison) streamed() []*document {
	if c.Plan.Target.Platform != target.Kops {
		return c.Existing.configurations()
	}
	var docs []*document
	for _, f := range c.Existing.kopsFiles() {
		for _, d := range c.Existing.docs {
			if d.file == f.Path {
				docs = append(docs, d)
			}
		}
	}
	return docs
}

// who asks for changes of a merged document.
func (c *comparison) who(d *document) func(Change) []Reason {
	switch d.kind {
	case "KubeletConfiguration":
		return func(ch Change) []Reason { name, _ := split(ch.Path); return c.asker.kubelet(name) }
	case "Cluster":
		return c.asker.kopsCluster
	}
	return c.asker.cluster
}

// changed adds a document whose text became another. The values decide: text
// that decodes to the same is no change.
func (c *comparison) changed(d *document, text []byte, who func(Change) []Reason) error {
	var value map[string]any
	if err := kyaml.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("%s: %w", d.place(), err)
	}
	changes := compare(d.value, value)
	if len(changes) == 0 {
		return nil
	}
	if !bytes.HasSuffix(d.text, []byte("\n")) {
		text = bytes.TrimSuffix(text, []byte("\n"))
	}
	// A marker on the document's first line may have been left out of the merge.
	if marker, _, ok := bytes.Cut(d.text, []byte("\n")); ok && bytes.HasPrefix(marker, []byte("---")) && !bytes.HasPrefix(text, []byte("---")) {
		text = slices.Concat(marker, []byte("\n"), text)
	}
	c.diff.Documents = append(c.diff.Documents, Document{
		File: d.file, Within: d.within, Object: d.identity(), Action: ActionChange,
		Changes: explain(changes, who), Patch: jsonPatch(d.value, value),
		before: d.text, after: text, edit: d.edit,
	})
	return nil
}

// rendered compares the files that go beside the configuration. Each comes to
// be among the changes, in order, or named as not compared.
func (c *comparison) rendered() error {
	for _, f := range c.Rendered {
		var err error
		switch dir, _, _ := strings.Cut(f.Path, "/"); {
		case c.present[f.Path]:
		case dir == "manifests":
			c.missing(f)
		case dir == "manifests-steady": // what its twin in manifests is compared with
		case dir == "patches" || f.Path == "scheduler.yaml":
			err = c.beside(f)
		case dir == "aggregated" && path.Ext(f.Path) == ".yaml", f.Path == "additional.yaml":
			err = c.tierObjects(f)
		default:
			err = c.whole(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beside compares a file that stands under its own name: a patch of kubeadm, or
// the scheduler's configuration.
func (c *comparison) beside(f file.File) error {
	patch := strings.HasPrefix(f.Path, "patches/")
	var docs []*document
	for _, d := range c.Existing.docs {
		named := path.Base(d.file) == path.Base(f.Path) && (path.Base(path.Dir(d.file)) == "patches") == patch
		if named && (patch || d.kind == "KubeSchedulerConfiguration") {
			docs = append(docs, d)
		}
	}
	if len(docs) == 0 {
		if patch && slices.ContainsFunc(c.Existing.files, func(e file.File) bool { return path.Base(path.Dir(e.Path)) == "patches" }) {
			c.add(f)
			return nil
		}
		c.diff.NotCompared = append(c.diff.NotCompared, f.Path)
		return nil
	}
	for _, d := range docs {
		d.seen = true
		if err := c.besideOne(f, d, patch); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) besideOne(f file.File, d *document, patch bool) error {
	who := func(Change) []Reason { return c.asker.rendered(f.Path) }
	if !patch {
		var want map[string]any
		if err := kyaml.Unmarshal(f.Data, &want); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		text, fs, err := over(d.text, want)
		if err != nil {
			return fmt.Errorf("%s: %w", d.place(), err)
		}
		c.say(d, fs)
		return c.changed(d, text, who)
	}
	var have, want any
	if err := kyaml.Unmarshal(d.text, &have); err != nil {
		return fmt.Errorf("%s: %w", d.place(), err)
	}
	if err := kyaml.Unmarshal(f.Data, &want); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	changes := compare(have, want)
	if len(changes) == 0 {
		return nil
	}
	c.diff.Documents = append(c.diff.Documents, Document{
		File: d.file, Object: "patch of kubeadm", Action: ActionChange,
		Changes: explain(changes, who), Patch: jsonPatch(have, want), before: d.text, after: f.Data, edit: d.edit,
	})
	return nil
}

// add adds a rendered file that is not there.
func (c *comparison) add(f file.File) {
	object, value := "", any(nil)
	if kyaml.Unmarshal(f.Data, &value) == nil {
		if m, ok := value.(map[string]any); ok {
			object = identity(m)
		}
	}
	reasons := c.asker.rendered(f.Path)
	c.diff.Documents = append(c.diff.Documents, Document{
		File: f.Path, Object: object, Action: ActionAdd, New: value, Reasons: reasons, after: f.Data,
	})
}

// say keeps findings about a document.
func (c *comparison) say(d *document, fs []finding.Finding) {
	for _, f := range fs {
		f.File = d.file
		if f.Line > 0 {
			f.Line += d.line - 1
		}
		c.diff.Findings = append(c.diff.Findings, f)
	}
}
