package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/override"
	"github.com/kubeseams/seams/internal/target"
)

// process is one command line of the control plane.
type process struct {
	// component is the program, as package target names it.
	component string
	// host is the directory of the file it comes from.
	host string
	// podName and pod are of its static pod; pod is nil for arguments alone.
	podName string
	pod     *corev1.Pod
	// container is its place in the pod, and image what it runs.
	container int
	image     string
	// doc and path say where it is described.
	doc  *document
	path string
	args []arg
	// base are the arguments kubeadm would give it without the user's.
	base map[string]string
	// complete is false where only some of the arguments are in the files.
	complete bool
	// parsed are the overrides, once overrides has read them.
	parsed []override.Override
	// byKubeadm processes run wherever kubeadm puts a control plane.
	byKubeadm bool
}

// arg is one argument.
type arg struct {
	// name is without dashes, as far as it was written with the right ones.
	name, value string
	hasValue    bool
	// own is false for what kubeadm adds, which is not the file's to answer for.
	own bool
	doc *document
	// path is the argument's; name and value may have their own.
	path, namePath, valuePath string
	// stray arguments are no flags.
	stray bool
}

// flag gives the value of a flag, the last when there are several.
func (p *process) flag(name string) (value string, ok bool) {
	a, ok := p.arg(name)
	return a.value, ok
}

// arg gives the last argument of that name. Kubernetes' programs take
// underscores for dashes.
func (p *process) arg(name string) (arg, bool) {
	for _, a := range slices.Backward(p.args) {
		if a.name == name || p.component != target.Etcd && strings.ReplaceAll(a.name, "_", "-") == name {
			return a, true
		}
	}
	return arg{}, false
}

// all gives the values of a flag that may stand several times.
func (p *process) all(name string) []string {
	var values []string
	for _, a := range p.args {
		if a.name == name {
			values = append(values, a.value)
		}
	}
	return values
}

// list gives the items of a comma-separated flag, or of the default without it.
func (p *process) list(name, otherwise string) []string {
	value, ok := p.flag(name)
	if !ok {
		value = otherwise
	}
	return slices.DeleteFunc(strings.Split(value, ","), func(s string) bool { return s == "" })
}

// String names the process for a message.
func (p *process) String() string {
	name := p.podName
	if name == "" {
		name = p.component
	}
	if p.host == "" {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, p.host)
}

// atFlag adds a finding where a flag stands, or where the process is described.
func (c *checker) atFlag(p *process, name string, f finding.Finding) {
	if a, ok := p.arg(name); ok && a.own {
		c.at(a.doc, a.valuePath, f)
		return
	}
	c.at(p.doc, p.path, f)
}

// addPod takes the command lines out of a pod.
func (c *checker) addPod(d *document, pod *corev1.Pod) { c.addPodAt(d, "", pod) }

// addPodAt does so for a pod that stands below a path of its document.
func (c *checker) addPodAt(d *document, prefix string, pod *corev1.Pod) {
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		at := fmt.Sprintf("%sspec.containers[%d]", prefix, i)
		words := podWords(at, container)
		if len(words) == 0 {
			continue
		}
		component := path.Base(words[0].text)
		if c.inShell(d, words) || !slices.Contains(target.Components, component) {
			continue
		}
		p := &process{
			component: component, host: dirOf(d.file), podName: pod.Name, pod: pod, container: i, image: container.Image,
			doc: d, path: at + ".command", complete: true,
		}
		p.args = c.parseArgs(p, words[1:])
		c.processes = append(c.processes, p)
	}
}

// word is one word of a command line and where it stands.
type word struct{ text, path string }

func podWords(at string, container *corev1.Container) []word {
	var words []word
	for i, w := range container.Command {
		words = append(words, word{w, fmt.Sprintf("%s.command[%d]", at, i)})
	}
	for i, w := range container.Args {
		words = append(words, word{w, fmt.Sprintf("%s.args[%d]", at, i)})
	}
	return words
}

// inShell says so when a component is started from a shell, whose words cannot
// be told apart here.
func (c *checker) inShell(d *document, words []word) bool {
	if !slices.Contains([]string{"sh", "bash", "ash", "dash"}, path.Base(words[0].text)) {
		return false
	}
	for _, w := range words[1:] {
		for _, component := range target.Components {
			if strings.Contains(w.text, component) {
				c.at(d, w.path, finding.Finding{
					Code: "command-in-shell", Severity: finding.Warning,
					Message: component + " is started from a shell, so that its flags are not judged",
					Fix:     "give the command as a list of words",
				})
				return true
			}
		}
	}
	return true
}

// parseArgs reads a command line as pflag does, and as etcd's flag package
// does, which takes one dash or two.
func (c *checker) parseArgs(p *process, words []word) []arg {
	table, known := c.flagTable(p)
	var args []arg
	for i := 0; i < len(words); i++ {
		w := words[i]
		a := arg{own: true, doc: p.doc, path: w.path, namePath: w.path, valuePath: w.path}
		name, value, hasValue := strings.Cut(w.text, "=")
		switch {
		case strings.HasPrefix(name, "--") && len(name) > 2:
			a.name = name[2:]
		case strings.HasPrefix(name, "-") && len(name) > 1:
			a.name, value, hasValue = c.shortFlag(p, name[1:], value, hasValue)
		default:
			a.name, a.stray = w.text, true
			args = append(args, a)
			continue
		}
		a.value, a.hasValue = value, hasValue
		if !hasValue && known && i+1 < len(words) {
			if f, ok := table.Find(a.name); ok && f.NoOptDefault == "" {
				i++
				a.value, a.hasValue, a.valuePath = words[i].text, true, words[i].path
			}
		}
		args = append(args, a)
	}
	return args
}

// shortFlag reads -v2, -v=2 and, for etcd, -name=value.
func (c *checker) shortFlag(p *process, letters, value string, hasValue bool) (string, string, bool) {
	table, known := c.flagTable(p)
	if p.component == target.Etcd || !known {
		return letters, value, hasValue
	}
	f, ok := table.FindShort(letters[:1])
	switch {
	case !ok:
		return "-" + letters, value, hasValue // judged as unknown, as written
	case len(letters) > 1 && !hasValue:
		return f.Name, letters[1:], true
	}
	return f.Name, value, hasValue
}
