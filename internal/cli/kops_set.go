package cli

import (
	"fmt"
	"strings"

	"github.com/kubeseams/seams/generators/kops"
	"github.com/kubeseams/seams/internal/diff"
	"github.com/kubeseams/seams/internal/file"
)

// set prints a command that makes the changes, as far as kOps has a way.
func (k *kopsFilter) set() error {
	in := file.File{Path: k.renderer.into.name, Data: k.renderer.into.data}
	existing, err := diff.Read([]file.File{in})
	if err != nil {
		return err
	}
	d, err := diff.Compare(diff.Input{Existing: existing, Plan: k.out.Plan, Recipe: k.subject.recipe, Before: in.Data, Merged: k.merged()})
	if err != nil {
		return err
	}
	var sets, cannot []string
	for _, doc := range d.Documents {
		if doc.Action == diff.ActionAdd {
			cannot = append(cannot, doc.Object+": kOps creates it from a document, with \"kops create -f\"")
			continue
		}
		for _, c := range doc.Changes {
			set, why := kops.Set(k.clusterSpec(existing), kops.Setting{Path: c.Path, Entry: c.Entry, Old: c.Old, New: c.New})
			if why != "" {
				cannot = append(cannot, c.Path+": "+why)
				continue
			}
			sets = append(sets, set)
		}
	}
	k.printSets(sets, cannot)
	if len(cannot) > 0 {
		return exit(exitFindings)
	}
	return nil
}

func (k *kopsFilter) clusterSpec(e *diff.Existing) map[string]any {
	spec, _ := e.Find("Cluster", k.out.Plan.Name)["spec"].(map[string]any)
	return spec
}

func (k *kopsFilter) printSets(sets, cannot []string) {
	w := k.streams.Out
	switch {
	case len(sets)+len(cannot) == 0:
		fmt.Fprintln(w, "# nothing to change")
		return
	case len(cannot) > 0:
		fmt.Fprintln(w, "# Not by --set; without these the rest may not be safe, so take the documents in place of this command:")
		for _, c := range cannot {
			fmt.Fprintln(w, "#   "+c)
		}
	}
	if len(sets) == 0 {
		return
	}
	fmt.Fprint(w, "kops edit cluster "+quoted(k.out.Plan.Name))
	for _, s := range sets {
		fmt.Fprint(w, " \\\n  --set "+quoted(s))
	}
	fmt.Fprintln(w)
}

// quoted writes a word so that a shell takes it as it is.
func quoted(word string) string {
	plain := strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("./=_:@%+-", r))
	}) < 0
	if plain && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
