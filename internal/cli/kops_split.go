package cli

import (
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/internal/yamltext"
)

// replaced are the kinds that "kops replace" takes (kubernetes/kops cmd/kops/replace.go).
var replaced = []string{"Cluster", "InstanceGroup", "SSHCredential"}

// apart takes the additional objects out of a stream of kOps' documents. What is
// left keeps every other byte.
func apart(stream []byte) (rest []byte, objects [][]byte) {
	end, kept := 0, false
	for _, d := range yamltext.Split(stream) {
		from := end
		end = d.Offset + len(d.Text)
		if !d.Blank() && !isReplaced(d.Text) {
			objects = append(objects, d.Text)
			continue
		}
		if !kept && len(objects) > 0 { // what separated it from an object that is gone
			from = d.Offset
		}
		kept = true
		rest = append(rest, stream[from:end]...)
	}
	return append(rest, stream[end:]...), objects
}

func isReplaced(text []byte) bool {
	var o struct{ APIVersion, Kind string }
	if yaml.Unmarshal(text, &o) != nil {
		return true // a merge has read it, so that this cannot be
	}
	group, _, _ := strings.Cut(o.APIVersion, "/")
	return (group == "kops.k8s.io" || group == "kops") && slices.Contains(replaced, o.Kind)
}

// objects are the recipe's own, in the order in which they are applied: what
// needs nothing that is made on a host.
func (k *kopsFilter) objects() [][]byte {
	var objects [][]byte
	for _, name := range []string{aggregated.ObjectsFile, aggregated.WorkloadFile} {
		for _, f := range k.out.Files {
			if strings.HasPrefix(f.Path, aggregated.Dir+"/") && path.Base(f.Path) == name {
				for _, d := range yamltext.Split([]byte(f.Data)) {
					if !d.Blank() {
						objects = append(objects, d.Text)
					}
				}
			}
		}
	}
	return objects
}

// kindsOf names documents by kind, each kind once.
func kindsOf(documents [][]byte) []string {
	var kinds []string
	for _, text := range documents {
		var o struct{ Kind string }
		if yaml.Unmarshal(text, &o) == nil && !slices.Contains(kinds, o.Kind) {
			kinds = append(kinds, o.Kind)
		}
	}
	return kinds
}
