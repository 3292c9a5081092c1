// Package overlay stands between generators and check: a user's Jsonnet
// function from the rendered objects to the objects wanted. What it returns is
// checked like everything else.
package overlay

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/profile"
)

//go:embed seams.libsonnet
var library string

// Apply calls the overlay in the named file with the objects of every YAML
// file, as an object from path to list of documents, and gives back the files
// it wants: the same paths, unless it sets one to null, which removes the
// file. Files without objects, such as the rollout, pass through, and so does,
// byte for byte, every file whose objects it left alone. Errors: the overlay
// cannot be read or evaluated, returns something else than files, or changes
// nothing at all.
func Apply(ctx context.Context, files []file.File, name string) ([]file.File, error) {
	before, err := objects(files)
	if err != nil {
		return nil, err
	}
	argument, err := json.Marshal(before)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", name, err)
	}
	loader, err := profile.NewLoader()
	if err != nil {
		return nil, err
	}
	out, findings, err := loader.Evaluate(ctx,
		profile.Options{Path: name, TLACode: map[string]string{"files": string(argument)}},
		map[string]string{"seams.libsonnet": library})
	if err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	if len(findings) > 0 {
		f := findings[0]
		place := name
		if f.File == name && f.Line > 0 {
			place = fmt.Sprintf("%s:%d", name, f.Line)
		}
		return nil, fmt.Errorf("overlay %s: %s", place, f.Message)
	}
	after, err := decode(out)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", name, err)
	}
	result, err := merge(files, before, after)
	if err != nil {
		return nil, fmt.Errorf("overlay %s: %w", name, err)
	}
	return result, nil
}

// objects reads the documents of every YAML file.
func objects(files []file.File) (map[string][]any, error) {
	all := map[string][]any{}
	for _, f := range files {
		if path.Ext(f.Path) != ".yaml" {
			continue
		}
		docs, err := documents(f.Data)
		if err != nil {
			return nil, fmt.Errorf("read %s for the overlay: %w", f.Path, err)
		}
		all[f.Path] = docs
	}
	return all, nil
}

// documents reads a YAML stream as JSON values, so that what is compared
// later is what Jsonnet can express.
func documents(data []byte) ([]any, error) {
	docs := []any{}
	d := yamlv3.NewDecoder(bytes.NewReader(data))
	for {
		var node yamlv3.Node
		err := d.Decode(&node)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := yamlv3.Marshal(&node)
		if err != nil {
			return nil, err
		}
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			return nil, err
		}
		docs = append(docs, v)
	}
}

// decode reads the overlay's result.
func decode(out string) (map[string][]any, error) {
	const want = "want a function(files) that returns an object from path to list of documents"
	var values map[string]any
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal([]byte(out), &values); errors.As(err, &wrong) {
		return nil, fmt.Errorf("the result is %s: %s", withArticle(wrong.Value), want)
	} else if err != nil {
		return nil, err
	}
	after := map[string][]any{}
	for _, p := range slices.Sorted(maps.Keys(values)) {
		docs, isList := values[p].([]any)
		if !isList && values[p] != nil {
			return nil, fmt.Errorf("%q of the result is %s: %s", p, kindOf(values[p]), want)
		}
		after[p] = docs
	}
	return after, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "an object"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}

func withArticle(kind string) string {
	if kind == "array" {
		return "an array"
	}
	return "a " + kind
}

// merge puts what the overlay returned in the place of what it was given.
func merge(files []file.File, before, after map[string][]any) ([]file.File, error) {
	var result []file.File
	changed := false
	for _, f := range files {
		docs, given := before[f.Path]
		want, kept := after[f.Path]
		switch {
		case !given:
			result = append(result, f)
			continue
		case !kept:
			return nil, fmt.Errorf("%s is missing from the result: return it, or set it to null to remove it", f.Path)
		case want == nil:
			changed = true
			continue
		case reflect.DeepEqual(docs, want):
			result = append(result, f)
			continue
		}
		changed = true
		data, err := encode(want)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		result = append(result, file.File{Path: f.Path, Data: data, Mode: f.Mode})
	}
	for _, p := range slices.Sorted(maps.Keys(after)) {
		if _, given := before[p]; given {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(p)) || path.Ext(p) != ".yaml" || path.Clean(p) != p {
			return nil, fmt.Errorf("%q cannot be a new file: want a relative path that ends in .yaml", p)
		}
		if slices.ContainsFunc(files, func(f file.File) bool { return f.Path == p }) || len(after[p]) == 0 {
			return nil, fmt.Errorf("%q cannot be a new file: it has no documents, or is not the overlay's to write", p)
		}
		data, err := encode(after[p])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		changed = true
		result = append(result, file.File{Path: p, Data: data})
	}
	if !changed {
		return nil, errors.New("it changed nothing: its condition matches no rendered object; seams.edit of seams.libsonnet says so at the place")
	}
	file.Sort(result)
	return result, nil
}

// encode writes documents as a YAML stream.
func encode(docs []any) ([]byte, error) {
	var b bytes.Buffer
	for i, d := range docs {
		text, err := yaml.Marshal(d)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(text)
	}
	return b.Bytes(), nil
}
