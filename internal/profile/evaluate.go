package profile

import (
	"context"
	"fmt"

	"github.com/kubeseams/seams/internal/finding"
)

// Evaluate runs the Jsonnet program that the options name within the bounds
// that hold for profiles, and returns its JSON. It is for overlays, whose
// programs are as foreign as a profile's. Library holds files that the program
// may import by name besides those of its own directory. The findings say what
// is wrong with the program; the JSON is then empty. Errors: the file cannot
// be read.
func (l *Loader) Evaluate(ctx context.Context, o Options, library map[string]string) (string, []finding.Finding, error) {
	o.Format, o.library = Jsonnet, library
	src, err := l.open(o)
	if err != nil {
		return "", nil, err
	}
	r := &reader{loader: l.snapshot(), limits: l.Limits.withDefaults(), file: src.name, options: o}
	if src.dir || src.tooLarge {
		return "", nil, fmt.Errorf("%s: want one Jsonnet file of at most %d bytes", src.name, r.limits.FileBytes)
	}
	out, err := bounded(ctx, r.limits, func() (string, error) {
		if !r.checkText(src.data) || !r.checkCode(src) {
			return "", nil
		}
		text, _ := r.jsonnet(src)
		return text, nil
	})
	if err != nil {
		_, findings, err := l.failed(src, err)
		return "", findings, err
	}
	finding.Sort(r.findings)
	return out, r.findings, nil
}
