package diff

import (
	"fmt"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/yamltext"
)

// over puts a rendered object over an existing one, as a merge does: entries of
// lists are told apart by their names, flags by theirs, and what only the
// existing object has stays.
func over(text []byte, rendered map[string]any) ([]byte, []finding.Finding, error) {
	result, err := yamltext.Document{Text: text, Line: 1}.Apply(wanted(rendered, "").(map[string]any))
	if err != nil {
		return nil, nil, err
	}
	var fs []finding.Finding
	for _, r := range result.Refused {
		fs = append(fs, finding.Finding{
			Code: "kubeadm-merge-refused", Severity: finding.Error, Path: r.Path, Line: r.Line,
			Message: fmt.Sprintf("cannot be compared: %s", r.Reason),
			Fix:     "write the value out where it stands, and compare again",
		})
	}
	return result.Text, fs, nil
}

// wanted turns a decoded object into wanted values of package yamltext.
func wanted(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, value := range v {
			out[k] = wanted(value, k)
		}
		return out
	case []any:
		if areTexts(v) && len(v) > 0 {
			set := yamltext.Set{}
			if key == "command" || key == "args" {
				set.Separator = "="
			}
			for _, item := range v {
				set.Items = append(set.Items, item.(string))
			}
			return set
		}
		list := yamltext.Keyed{Key: "name"}
		for _, item := range v {
			if entry, ok := item.(map[string]any); ok {
				list.Items = append(list.Items, wanted(entry, "").(map[string]any))
			}
		}
		return list
	case float64:
		if n := int64(v); float64(n) == v {
			return n
		}
	}
	return v
}
