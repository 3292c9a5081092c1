package kubeadm

import (
	"fmt"
	"path"
	"slices"
	"strings"

	kyaml "sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/yamltext"
)

// OwnPods are the static pods that kubeadm makes, by the program in them.
var OwnPods = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}

// MergeManifest puts the plan into the manifest of one of kubeadm's own static
// pods, or of a pod that is made like it, as Merge does with the configuration:
// flags are told apart by their name, the plan's win except where a capacity of
// the manifest's is larger, and every other byte stays. program is one of OwnPods.
//
// An error means that the manifest cannot be edited, or that no container in it
// runs the program.
func MergeManifest(text []byte, pl *plan.Plan, program string) ([]byte, []finding.Finding, error) {
	var pod map[string]any
	if err := kyaml.Unmarshal(text, &pod); err != nil {
		return nil, nil, err
	}
	container := Container(pod, program)
	if container == nil {
		return nil, nil, fmt.Errorf("no container runs %s", program)
	}
	m := &merger{present: &Present{}, plan: pl}
	want, volumes := m.container(container, program)
	spec := map[string]any{}
	if len(want) > 0 {
		want["name"] = container["name"]
		spec["containers"] = yamltext.Keyed{Key: "name", Items: []map[string]any{want}}
	}
	if len(volumes.Items) > 0 {
		spec["volumes"] = volumes
	}
	if len(spec) == 0 {
		return text, m.findings, nil
	}
	result, err := yamltext.Document{Text: text, Line: 1}.Apply(map[string]any{"spec": spec})
	if err != nil {
		return nil, nil, err
	}
	for _, r := range result.Refused {
		m.say(finding.Finding{
			Code: "kubeadm-merge-refused", Severity: finding.Error, Path: r.Path, Line: r.Line,
			Message: "left as it is: " + r.Reason,
			Fix:     "write the value out where it stands, and merge again",
		})
	}
	finding.Sort(m.findings)
	return result.Text, m.findings, nil
}

// Container is the container of a pod that runs a program; nil when none does.
func Container(pod map[string]any, program string) map[string]any {
	spec, _ := pod["spec"].(map[string]any)
	list, _ := spec["containers"].([]any)
	for _, item := range list {
		c, _ := item.(map[string]any)
		words := append(words(c, "command"), words(c, "args")...)
		if len(words) > 0 && path.Base(words[0]) == program || len(words) == 0 && c["name"] == program {
			return c
		}
	}
	return nil
}

func words(container map[string]any, key string) []string {
	list, _ := container[key].([]any)
	var out []string
	for _, item := range list {
		out = append(out, fmt.Sprint(item))
	}
	return out
}

// container is what the plan wants of a container, with the volumes of the pod
// that go with it.
func (m *merger) container(c map[string]any, program string) (want map[string]any, volumes yamltext.Keyed) {
	want, volumes = map[string]any{}, yamltext.Keyed{Key: "name"}
	flags, env := m.owned(program)
	key := "command"
	if w := words(c, "command"); len(w) < 2 && len(words(c, "args")) > 0 {
		key = "args"
	}
	if program == "kube-scheduler" && flags["config"] != "" {
		if own := flagValues(c, key, "config"); m.schedulerConfig(map[string]any{"extraArgs": asArgs("config", own)}) {
			delete(flags, "config")
		} else {
			pod := podValue(controlplane.Scheduler(m.plan))
			volumes = named(pod["spec"], "volumes", controlplane.SchedulerConfigVolume)
			if mounts := named(Container(pod, program), "volumeMounts", controlplane.SchedulerConfigVolume); len(mounts.Items) > 0 {
				want["volumeMounts"] = mounts
			}
		}
	}
	if set := m.command(c, key, program, flags); len(set.Items) > 0 {
		want[key] = set
	}
	if list := envs(env); len(list) > 0 {
		wanted := yamltext.Keyed{Key: "name"}
		for _, e := range list {
			wanted.Items = append(wanted.Items, map[string]any{"name": e.Name, "value": e.Value})
		}
		want["env"] = wanted
	}
	if program == "kube-apiserver" && ProbePatch(m.plan) != nil {
		m.probes(c, want)
	}
	return want, volumes
}

// owned are the flags and variables of a program that are the plan's and not
// its installer's.
func (m *merger) owned(program string) (controlplane.Flags, map[string]string) {
	p := m.plan
	switch program {
	case "kube-apiserver":
		main := controlplane.MainTier(p)
		return controlplane.TierFlags(p, main), main.Env
	case "kube-controller-manager":
		return controlplane.ControllerManagerFlags(p), p.ControllerManager.Env
	case "kube-scheduler":
		return controlplane.SchedulerFlags(p), p.Scheduler.Env
	case "etcd":
		flags := controlplane.Flags{}
		for _, arg := range localEtcd(p).ExtraArgs {
			flags[arg.Name] = arg.Value
		}
		return flags, nil
	}
	return nil, nil
}

// command fits the wanted flags to those of a command line.
func (m *merger) command(c map[string]any, key, program string, flags controlplane.Flags) yamltext.Set {
	set := yamltext.Set{Separator: "="}
	for _, name := range flags.Names() {
		value, old := flags[name], flagValues(c, key, name)
		at := "--" + name
		switch separator, isList := joined[name]; {
		case slices.Contains(words(c, key), "--"+name) || len(old) > 1:
			m.say(finding.Finding{
				Code: "kubeadm-merge-refused", Severity: finding.Error, Path: at,
				Message: fmt.Sprintf("the flag stands twice or apart from its value, and the plan wants --%s=%s", name, value),
				Fix:     "write it once, as --name=value, and compare again",
			})
			continue
		case len(old) == 0:
		case isList:
			value = join(old[0], value, separator)
		case m.same(program, name, old[0], value):
			continue
		case m.larger(at, name, old[0], value):
			continue
		}
		set.Items = append(set.Items, "--"+name+"="+value)
	}
	return set
}

// flagValues are the values that a command line gives a flag.
func flagValues(c map[string]any, key, name string) []string {
	var out []string
	for _, word := range words(c, key) {
		if value, ok := strings.CutPrefix(word, "--"+name+"="); ok {
			out = append(out, value)
		}
	}
	return out
}

func asArgs(name string, values []string) []any {
	var out []any
	for _, v := range values {
		out = append(out, map[string]any{"name": name, "value": v})
	}
	return out
}

// probes points the probes that are there past the stores whose loss must not
// restart the process.
func (m *merger) probes(c, want map[string]any) {
	paths := controlplane.Probes(m.plan)
	for probe, path := range map[string]string{"livenessProbe": paths.Live, "readinessProbe": paths.Ready, "startupProbe": paths.Start} {
		p, _ := c[probe].(map[string]any)
		if get, ok := p["httpGet"].(map[string]any); ok && get["path"] != nil {
			want[probe] = map[string]any{"httpGet": map[string]any{"path": path}}
		}
	}
}

// podValue is a rendered pod as plain values.
func podValue(pod any) map[string]any {
	var value map[string]any
	if data, err := generators.Objects(pod); err == nil {
		_ = kyaml.Unmarshal(data, &value) // what Objects wrote
	}
	return value
}

// named takes the item of a name out of a list, as a list of wanted ones.
func named(of any, key, name string) yamltext.Keyed {
	m, _ := of.(map[string]any)
	list, _ := m[key].([]any)
	out := yamltext.Keyed{Key: "name"}
	for _, item := range list {
		if entry, ok := item.(map[string]any); ok && entry["name"] == name {
			out.Items = append(out.Items, wanted(entry).(map[string]any))
		}
	}
	return out
}
