package diff

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/file"
)

// plainNames are rendered files that are no YAML by their names; those of a
// tree are read to be compared whole.
var plainNames = append([]string{"20-seams.conf", "pki.sh", "apiservices.sh", "build.sh", "Dockerfile", "README.md", "rollout.md"},
	controlplane.AggregatedKubeconfigs...)

// IsPlain reports whether a file, by its name, is one that is rendered and of
// no kind of its own.
func IsPlain(name string) bool {
	if !slices.Contains(plainNames, path.Base(name)) {
		return false
	}
	// A repository has other files of these names.
	return path.Base(name) != "README.md" && path.Base(name) != "Dockerfile" && path.Base(name) != "build.sh" || strings.Contains("/"+name, "/aggregated/")
}

// isInstruction tells the rendered files that people read or steps run, and
// that no host keeps: they are compared when they stand under their own path,
// and their absence says nothing.
func isInstruction(name string) bool {
	switch base := path.Base(name); {
	case strings.HasSuffix(base, ".md"), strings.HasSuffix(base, ".sh"), base == "Dockerfile", base == "kops-flags.txt":
		return true
	default:
		return path.Dir(name) == "." && base != "scheduler.yaml"
	}
}

// whole compares a rendered file with the existing one of its path, by what its
// documents say or, where it is none of YAML, by its lines. What is only read
// follows from the rest and is left.
func (c *comparison) whole(f file.File) error {
	i := slices.IndexFunc(c.Existing.files, func(e file.File) bool {
		return strings.HasSuffix("/"+e.Path, "/"+f.Path) || path.Base(f.Path) == "20-seams.conf" && path.Base(e.Path) == "20-seams.conf"
	})
	switch {
	case path.Ext(f.Path) == ".md" && i >= 0:
		c.Existing.see(c.Existing.files[i].Path)
		return nil
	case i < 0 && isInstruction(f.Path):
		c.diff.Instructions = append(c.diff.Instructions, f.Path)
		return nil
	case i < 0:
		c.diff.NotCompared = append(c.diff.NotCompared, f.Path)
		return nil
	}
	have := c.Existing.files[i]
	c.Existing.see(have.Path)
	changes, err := differences(have, f)
	if err != nil || len(changes) == 0 {
		return err
	}
	c.diff.Documents = append(c.diff.Documents, Document{
		File: have.Path, Object: "file", Action: ActionChange,
		Changes: explain(changes, func(ch Change) []Reason { return c.asker.besides(f.Path, ch) }),
		before:  have.Data, after: f.Data, edit: &edit{0, len(have.Data)},
	})
	return nil
}

// besides is who asks for a change of a file that is compared whole. What is
// left at the top are kubeadm's configurations for hosts, which name the patches.
func (a *asker) besides(name string, c Change) []Reason {
	switch dir, _, _ := strings.Cut(name, "/"); dir {
	case "kubelet":
		field, _ := split(c.Path)
		return a.kubelet(field)
	case "aggregated":
		return a.rendered(name)
	}
	return a.stores()
}

// differences are those of two files, by documents where both are YAML with as
// many, and otherwise by lines.
func differences(have, want file.File) ([]Change, error) {
	was, is := withoutHeader(have.Data), withoutHeader(want.Data)
	if bytes.Equal(was, is) {
		return nil, nil
	}
	old, fresh := filled(was), filled(is)
	if yaml := !slices.Contains([]string{".sh", ".md", ""}, path.Ext(want.Path)); yaml && len(old) == len(fresh) {
		var changes []Change
		for i := range old {
			var a, b any
			if err := kyaml.Unmarshal(old[i].Text, &a); err != nil {
				return nil, fmt.Errorf("%s: %w", have.Path, bare(old[i].Text, err))
			}
			if err := kyaml.Unmarshal(fresh[i].Text, &b); err != nil {
				return nil, fmt.Errorf("%s: %w", want.Path, err)
			}
			changes = append(changes, compare(a, b)...)
		}
		return changes, nil
	}
	gone, added := lines(was, is), lines(is, was)
	return []Change{{Path: "lines", Op: OpReplace, Old: fmt.Sprintf("%d that go", gone), New: fmt.Sprintf("%d that come", added)}}, nil
}

// lines counts the lines of a text that another does not have.
func lines(of, not []byte) int {
	left := map[string]int{}
	for line := range bytes.Lines(not) {
		left[string(line)]++
	}
	n := 0
	for line := range bytes.Lines(of) {
		if left[string(line)]--; left[string(line)] < 0 {
			n++
		}
	}
	return n
}

// withoutHeader leaves out the lines that name the program, the profile and the
// recipe, which may differ where nothing else does.
func withoutHeader(data []byte) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		text, comment := strings.CutPrefix(string(line), "# ")
		if comment && (strings.HasPrefix(text, file.RenderedBy) || strings.HasPrefix(text, file.OfProfile) || strings.HasPrefix(text, file.ByRecipe)) {
			continue
		}
		out = append(out, line...)
	}
	return out
}
