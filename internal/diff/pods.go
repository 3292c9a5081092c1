package diff

import (
	"fmt"
	"path"
	"slices"
	"strings"

	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators/kubeadm"
	"github.com/kubeseams/seams/internal/file"
)

// pods compares the static pods: kubeadm's own by the flags and probes that the
// plan owns, the plan's own pods whole.
func (c *comparison) pods() error {
	for _, d := range c.Existing.pods() {
		host := c.host(d)
		name := strings.TrimSuffix(d.meta("name"), "-"+host)
		if i := slices.Index(kubeadm.OwnPods, name); i >= 0 {
			if err := c.ownPod(d, kubeadm.OwnPods[i]); err != nil {
				return err
			}
			continue
		}
		if err := c.extraPod(d, name, host); err != nil {
			return err
		}
	}
	return nil
}

// ownPod compares one of kubeadm's pods.
func (c *comparison) ownPod(d *document, program string) error {
	if kubeadm.Container(d.value, program) == nil {
		return nil
	}
	d.seen = true
	text, fs, err := kubeadm.MergeManifest(d.text, c.Plan, program)
	if err != nil {
		return fmt.Errorf("%s: %w", d.place(), err)
	}
	c.say(d, fs)
	return c.changed(d, text, func(ch Change) []Reason { return c.asker.program(program, strings.TrimPrefix(ch.Path, "spec."), ch) })
}

// extraPod compares a pod that the plan runs beside kubeadm's with the manifest
// that the host is to keep.
func (c *comparison) extraPod(d *document, name, host string) error {
	first := path.Join("manifests", host, name+".yaml")
	wanted, ok := c.file(path.Join("manifests-steady", host, name+".yaml"))
	if !ok {
		wanted, ok = c.file(first)
	}
	if !ok {
		return nil
	}
	d.seen = true
	c.present[first] = true
	var want map[string]any
	if err := kyaml.Unmarshal(wanted.Data, &want); err != nil {
		return fmt.Errorf("%s: %w", wanted.Path, err)
	}
	delete(want, "metadata") // the kubelet's mirror of a pod has another name
	text, fs, err := over(d.text, want)
	if err != nil {
		return fmt.Errorf("%s: %w", d.place(), err)
	}
	c.say(d, fs)
	n := len(c.diff.Documents)
	if err := c.changed(d, text, func(Change) []Reason { return c.asker.rendered(first) }); err != nil {
		return err
	}
	if len(c.diff.Documents) == n {
		c.standing[first], c.standing[wanted.Path] = true, true
	}
	return nil
}

func (c *comparison) file(name string) (file.File, bool) {
	i := slices.IndexFunc(c.Rendered, func(f file.File) bool { return f.Path == name })
	if i < 0 {
		return file.File{}, false
	}
	return c.Rendered[i], true
}

// missing adds a manifest that no existing file has, when there are manifests of
// its host: otherwise nobody has shown what the host runs.
func (c *comparison) missing(f file.File) {
	host, base := path.Base(path.Dir(f.Path)), strings.TrimSuffix(path.Base(f.Path), ".yaml")
	own := slices.Contains(kubeadm.OwnPods, base)
	shown, dir := false, ""
	for _, d := range c.Existing.pods() {
		if c.host(d) == host {
			shown = true
			if d.edit != nil && dir == "" {
				dir = path.Dir(d.file)
			}
		}
	}
	switch {
	case shown && !own:
		c.add(f)
		c.diff.Documents[len(c.diff.Documents)-1].beside = dir
	case !shown:
		c.diff.NotCompared = append(c.diff.NotCompared, f.Path)
	}
}

// host is the host that a pod is of: the one that its node or path names, that
// its flags name, the only one, or that of a pod beside it in its directory; ""
// when it cannot be told.
func (c *comparison) host(d *document) string {
	hosts := c.Plan.ControlPlane.Hosts
	spec, _ := d.value["spec"].(map[string]any)
	node, _ := spec["nodeName"].(string)
	dirs := strings.Split(path.Dir(d.file), "/")
	for _, h := range hosts {
		if node == h.Name || slices.Contains(dirs, h.Name) {
			return h.Name
		}
	}
	if name := c.named(d); name != "" {
		return name
	}
	if len(hosts) == 1 {
		return hosts[0].Name
	}
	for _, other := range c.Existing.pods() {
		if other.within == "" && d.within == "" && path.Dir(other.file) == path.Dir(d.file) && c.named(other) != "" {
			return c.named(other)
		}
	}
	return ""
}

// named is the host that a pod's flags name: as etcd's member, or by the
// address of an apiserver.
func (c *comparison) named(d *document) string {
	for _, program := range []string{"etcd", "kube-apiserver"} {
		container := kubeadm.Container(d.value, program)
		for _, key := range []string{"command", "args"} {
			list, _ := container[key].([]any)
			for _, f := range flagsOf(list) {
				for _, h := range c.Plan.ControlPlane.Hosts {
					if f.name == "name" && f.value == h.Name || f.name == "advertise-address" && h.Address != "" && f.value == h.Address {
						return h.Name
					}
				}
			}
		}
	}
	return ""
}
