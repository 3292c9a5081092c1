package rig

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
	"sigs.k8s.io/yaml"

	"github.com/kubeseams/seams/generators/aggregated"
	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/file"
)

// pod is what the rig takes from the manifest of a static pod.
type pod struct {
	host, name, image string
	// argv as the kubelet would run it, its first word being the program.
	argv, env []string
	mounts    []mount
	probes    probes
	// grace is what the program gets to end by itself, in seconds.
	grace int64
}

// mount is a path of the host that the pod sees.
type mount struct {
	inPod, onHost string
	kind          corev1.HostPathType
}

// probes are those of the manifest, nil where it has none.
type probes struct {
	startup, live, ready *probe
}

// manifests are the pods of the files, by the directory they are for.
type manifests struct {
	// pods run, steady ones take their place after the first start.
	pods, steady []pod
	// configs are further files that pods mount, by their name in /etc/kubernetes/seams.
	configs map[string]file.File
	// unused are files that the rig has no use for.
	unused []string
}

// configDir is where the rollout has the rendered configuration files put.
const configDir = "/etc/kubernetes/seams"

// readManifests takes the static pods from rendered files:
// manifests/HOST/NAME.yaml and manifests-steady/HOST/NAME.yaml.
func readManifests(files []file.File) (manifests, error) {
	m := manifests{configs: map[string]file.File{}}
	for _, f := range files {
		parts := strings.Split(f.Path, "/")
		switch {
		case len(parts) == 3 && (parts[0] == "manifests" || parts[0] == "manifests-steady") && path.Ext(f.Path) == ".yaml":
			p, err := readPod(parts[1], f.Data)
			if err != nil {
				return manifests{}, fmt.Errorf("%s: %w", f.Path, err)
			}
			if parts[0] == "manifests" {
				m.pods = append(m.pods, p)
			} else {
				m.steady = append(m.steady, p)
			}
		case len(parts) == 1 && path.Ext(f.Path) == ".yaml":
			m.configs[f.Path] = f
		case parts[0] == aggregated.Dir && slices.Contains(usedOfTiers, path.Base(f.Path)):
			// Read by tiersOf.
		default:
			m.unused = append(m.unused, f.Path)
		}
	}
	if len(m.pods) == 0 {
		return manifests{}, fmt.Errorf("no static pods among %d files: there is no manifests/HOST/NAME.yaml", len(files))
	}
	order := func(a, b pod) int { return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.name, b.name)) }
	slices.SortFunc(m.pods, order)
	slices.SortFunc(m.steady, order)
	return m, nil
}

// usedOfTiers are the names of the files of aggregated tiers that the rig has a
// use for; their scripts do what it does by itself.
var usedOfTiers = append([]string{aggregated.ObjectsFile, aggregated.APIServicesFile, aggregated.WorkloadFile},
	controlplane.AggregatedKubeconfigs...)

// readPod decodes a manifest strictly. What a static pod may say and the rig
// cannot do is an error: it would not run what the manifest says.
func readPod(host string, data []byte) (pod, error) {
	var object corev1.Pod
	if err := yaml.UnmarshalStrict(data, &object); err != nil {
		return pod{}, err
	}
	if object.APIVersion != "v1" || object.Kind != "Pod" {
		return pod{}, fmt.Errorf("%s %s is not a Pod", object.APIVersion, object.Kind)
	}
	spec := object.Spec
	if len(spec.Containers) != 1 || len(spec.InitContainers) > 0 {
		return pod{}, fmt.Errorf("pod %s: the rig runs pods of one container", object.Name)
	}
	if !spec.HostNetwork {
		return pod{}, fmt.Errorf("pod %s: the rig runs pods on their host's network", object.Name)
	}
	c := spec.Containers[0]
	if len(c.Command) == 0 {
		return pod{}, fmt.Errorf("pod %s: no command; what its image would run is not known", object.Name)
	}
	p := pod{host: host, name: object.Name, image: c.Image, grace: corev1.DefaultTerminationGracePeriodSeconds}
	if spec.TerminationGracePeriodSeconds != nil {
		p.grace = *spec.TerminationGracePeriodSeconds
	}
	if err := p.command(c); err != nil {
		return pod{}, fmt.Errorf("pod %s: %w", object.Name, err)
	}
	if err := p.volumes(spec, c); err != nil {
		return pod{}, fmt.Errorf("pod %s: %w", object.Name, err)
	}
	for _, x := range []struct {
		name string
		from *corev1.Probe
		to   **probe
	}{{"startupProbe", c.StartupProbe, &p.probes.startup}, {"livenessProbe", c.LivenessProbe, &p.probes.live}, {"readinessProbe", c.ReadinessProbe, &p.probes.ready}} {
		var err error
		if *x.to, err = newProbe(x.from, c.Ports); err != nil {
			return pod{}, fmt.Errorf("pod %s: %s: %w", object.Name, x.name, err)
		}
	}
	return p, nil
}

// command expands $(NAME) in command and args as the kubelet does.
func (p *pod) command(c corev1.Container) error {
	values := map[string]string{}
	for _, e := range c.Env {
		if e.ValueFrom != nil {
			return fmt.Errorf("environment variable %s: the rig has only plain values", e.Name)
		}
		values[e.Name] = expansion.Expand(e.Value, expansion.MappingFuncFor(values))
		p.env = append(p.env, e.Name+"="+values[e.Name])
	}
	if len(c.EnvFrom) > 0 {
		return fmt.Errorf("envFrom: the rig has only plain values")
	}
	for _, word := range slices.Concat(c.Command, c.Args) {
		p.argv = append(p.argv, expansion.Expand(word, expansion.MappingFuncFor(values)))
	}
	return nil
}

// volumes joins mounts with the paths of the host behind them.
func (p *pod) volumes(spec corev1.PodSpec, c corev1.Container) error {
	onHost := map[string]*corev1.HostPathVolumeSource{}
	for _, v := range spec.Volumes {
		if v.HostPath == nil {
			return fmt.Errorf("volume %s: the rig has only paths of the host", v.Name)
		}
		onHost[v.Name] = v.HostPath
	}
	for _, m := range c.VolumeMounts {
		v := onHost[m.Name]
		if v == nil {
			return fmt.Errorf("mount %s: no volume of that name", m.Name)
		}
		if m.SubPath != "" || m.SubPathExpr != "" {
			return fmt.Errorf("mount %s: the rig has no subPath", m.Name)
		}
		kind := corev1.HostPathUnset
		if v.Type != nil {
			kind = *v.Type
		}
		p.mounts = append(p.mounts, mount{inPod: path.Clean(m.MountPath), onHost: path.Clean(v.Path), kind: kind})
	}
	return nil
}

// flag is the value of a flag in words of a command line, the last if it
// stands there more than once.
func flag(argv []string, name string) (string, bool) {
	value, found := "", false
	for i, word := range argv {
		bare := strings.TrimLeft(word, "-")
		if bare == word {
			continue
		}
		if n, v, ok := strings.Cut(bare, "="); ok && n == name {
			value, found = v, true
		} else if !ok && n == name && i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "-") {
			value, found = argv[i+1], true
		}
	}
	return value, found
}
