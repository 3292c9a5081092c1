package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// resource is one line of resources.json.
type resource struct {
	Group    string `json:"group"`
	Resource string `json:"resource"`
	// Storage is empty for a resource that overrides can route.
	Storage string `json:"storage,omitempty"`
}

// writeResources writes what kube-apiserver serves by itself, from the
// discovery documents that upstream's own tests keep current.
func writeResources(source, dir string) error {
	found := map[resource][]string{}
	if err := coreResources(source, found); err != nil {
		return err
	}
	if err := groupResources(source, found); err != nil {
		return err
	}
	aliases, err := cohabiting(source)
	if err != nil {
		return err
	}
	var out []resource
	for r, verbs := range found {
		r.Storage = storage(r, verbs, aliases)
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b resource) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
	if len(out) < 50 {
		return fmt.Errorf("only %d resources in %s: has discovery moved?", len(out), source)
	}
	return writeLines(filepath.Join(dir, "resources.json"), out)
}

// storage says where a resource is kept. Whatever is kept in etcd can be
// watched; the review kinds and componentstatuses cannot.
func storage(r resource, verbs []string, aliases map[string]string) string {
	switch {
	case !slices.Contains(verbs, "watch"):
		return "none"
	case r.Group == "apiextensions.k8s.io", r.Group == "apiregistration.k8s.io":
		// These two servers use a SimpleStorageFactory, which knows no overrides.
		return "main"
	case aliases[r.Group+"/"+r.Resource] != "":
		return "alias:" + aliases[r.Group+"/"+r.Resource]
	}
	return ""
}

func coreResources(source string, found map[resource][]string) error {
	var list struct {
		Resources []struct {
			Name  string   `json:"name"`
			Verbs []string `json:"verbs"`
		} `json:"resources"`
	}
	if err := readJSON(filepath.Join(source, "api", "discovery", "api__v1.json"), &list); err != nil {
		return err
	}
	for _, r := range list.Resources {
		if !strings.Contains(r.Name, "/") { // not a subresource
			found[resource{Resource: r.Name}] = r.Verbs
		}
	}
	return nil
}

func groupResources(source string, found map[resource][]string) error {
	var list struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Versions []struct {
				Resources []struct {
					Resource string   `json:"resource"`
					Verbs    []string `json:"verbs"`
				} `json:"resources"`
			} `json:"versions"`
		} `json:"items"`
	}
	if err := readJSON(filepath.Join(source, "api", "discovery", "aggregated_v2.json"), &list); err != nil {
		return err
	}
	for _, g := range list.Items {
		for _, v := range g.Versions {
			for _, r := range v.Resources {
				key := resource{Group: g.Metadata.Name, Resource: r.Resource}
				found[key] = append(found[key], r.Verbs...)
			}
		}
	}
	return nil
}

var (
	cohabitCall = regexp.MustCompile(`AddCohabitatingResources\((\w+)\.Resource\("(\w+)"\), (\w+)\.Resource\("(\w+)"\)\)`)
	importLine  = regexp.MustCompile(`(?m)^\t(?:(\w+) )?"k8s\.io/kubernetes/pkg/apis/(\w+)"`)
	groupName   = regexp.MustCompile(`(?m)^const GroupName = "([^"]*)"`)
)

// cohabiting reads which resources are stored under another group's name, from
// the storage factory's source: alias to the resource whose override counts.
func cohabiting(source string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(source, "pkg", "kubeapiserver", "default_storage_factory_builder.go"))
	if err != nil {
		return nil, err
	}
	groups := map[string]string{}
	for _, m := range importLine.FindAllStringSubmatch(string(text), -1) {
		register, err := os.ReadFile(filepath.Join(source, "pkg", "apis", m[2], "register.go"))
		if err != nil {
			return nil, err
		}
		name := groupName.FindStringSubmatch(string(register))
		if name == nil {
			return nil, fmt.Errorf("no GroupName in pkg/apis/%s", m[2])
		}
		groups[cmp.Or(m[1], m[2])] = name[1]
	}
	aliases := map[string]string{}
	for _, m := range cohabitCall.FindAllStringSubmatch(string(text), -1) {
		first, ok1 := groups[m[1]]
		second, ok2 := groups[m[3]]
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("%s: group not found", m[0])
		}
		aliases[second+"/"+m[4]] = first + "/" + m[2]
	}
	if len(aliases) == 0 {
		return nil, fmt.Errorf("no cohabiting resources found: has the storage factory changed?")
	}
	return aliases, nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
