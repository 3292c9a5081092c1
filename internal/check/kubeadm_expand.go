package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/constants"
	"k8s.io/kubernetes/cmd/kubeadm/app/phases/controlplane"

	"github.com/kubeseams/seams/internal/target"
)

// cluster is the control plane that kubeadm makes of a configuration file, with
// kubeadm's own code where that can be called.
type cluster struct {
	file *kubeadmFile
	// dir is the directory of the file; its processes are on every host below.
	dir  string
	pods map[string]*corev1.Pod
	// processes are by the name of their static pod.
	processes map[string]*process
}

// addCluster lays out what kubeadm would run, for the rules that look at
// command lines and at all processes together.
func (c *checker) addCluster(f *kubeadmFile) {
	c.addKubeletArgs(f)
	c.addPatchReferences(f)
	if f.clusterConfig == nil {
		return
	}
	cl := c.layOut(f, f.clusterConfig.DeepCopy())
	c.clusters = append(c.clusters, cl)
	for _, name := range sortedKeys(cl.processes) {
		c.processes = append(c.processes, cl.processes[name])
	}
}

// layOut makes the pods and command lines of a configuration.
func (c *checker) layOut(f *kubeadmFile, config *kubeadmapi.ClusterConfiguration) *cluster {
	config.KubernetesVersion = "v" + c.version().String()
	endpoint := kubeadmapi.APIEndpoint{AdvertiseAddress: placeholderAddress, BindPort: 6443}
	if f.initConfig != nil {
		endpoint = f.initConfig.LocalAPIEndpoint
	}
	settleEndpoint(&endpoint)
	cl := &cluster{file: f, dir: dirOf(f.name), pods: map[string]*corev1.Pod{}, processes: map[string]*process{}}
	pods, bare := c.staticPods(config, &endpoint), c.staticPods(withoutArgs(config), &endpoint)
	for name, pod := range pods {
		cl.pods[name] = pod
		user := extraArgs(config, name)
		user.mapping = f.mapping
		cl.processes[name] = cl.process(name, pod, user)
		cl.processes[name].base = argMap(bare[name].Spec.Containers[0].Command[1:])
		c.judgeMerged(f.cluster, user, cl.processes[name].base)
		for i, more := range f.more {
			cl.processes[name].args = append(cl.processes[name].args, argsOf(f.moreDocs[i], extraArgs(more, name))...)
		}
	}
	return cl
}

// defaultCluster is what kubeadm makes without a configuration. It is only
// there to be patched: its processes are not judged.
func (c *checker) defaultCluster(dir string) *cluster {
	return c.layOut(&kubeadmFile{name: dir + "/"}, defaultCluster())
}

// staticPods are kubeadm's pods of one host, by name.
func (c *checker) staticPods(config *kubeadmapi.ClusterConfiguration, endpoint *kubeadmapi.APIEndpoint) map[string]*corev1.Pod {
	pods := map[string]*corev1.Pod{}
	for name, pod := range controlplane.GetStaticPodSpecs(config, endpoint, []kubeadmapi.EnvVar{}) {
		pods[name] = &pod
	}
	if config.Etcd.External == nil {
		pods[constants.Etcd] = etcdPod(c.version(), config, endpoint)
	}
	return pods
}

// withoutArgs is a configuration without the user's arguments.
func withoutArgs(config *kubeadmapi.ClusterConfiguration) *kubeadmapi.ClusterConfiguration {
	bare := config.DeepCopy()
	bare.APIServer.ExtraArgs, bare.ControllerManager.ExtraArgs, bare.Scheduler.ExtraArgs = nil, nil, nil
	if bare.Etcd.Local != nil {
		bare.Etcd.Local.ExtraArgs = nil
	}
	return bare
}

// argMap reads kubeadm's own rendering of arguments, --name=value each.
func argMap(command []string) map[string]string {
	values := map[string]string{}
	for _, text := range command {
		name, value, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
		values[name] = value
	}
	return values
}

// extraArgs gives the user's arguments of a component and their path.
func extraArgs(config *kubeadmapi.ClusterConfiguration, name string) userArgs {
	switch name {
	case constants.KubeAPIServer:
		return userArgs{list: config.APIServer.ExtraArgs, path: "apiServer.extraArgs"}
	case constants.KubeControllerManager:
		return userArgs{list: config.ControllerManager.ExtraArgs, path: "controllerManager.extraArgs"}
	case constants.KubeScheduler:
		return userArgs{list: config.Scheduler.ExtraArgs, path: "scheduler.extraArgs"}
	}
	if config.Etcd.Local != nil {
		return userArgs{list: config.Etcd.Local.ExtraArgs, path: "etcd.local.extraArgs"}
	}
	return userArgs{}
}

// userArgs are arguments of a configuration file, and the path of their list,
// or of their mapping, as until v1beta3.
type userArgs struct {
	list    []kubeadmapi.Arg
	path    string
	mapping bool
}

// process is one of kubeadm's, whose command ends in the user's arguments in
// their order (kubeadm's ArgumentsToCommand).
func (cl *cluster) process(name string, pod *corev1.Pod, user userArgs) *process {
	p := &process{
		component: name, host: cl.dir, podName: name, pod: pod, byKubeadm: true, complete: true,
		doc: cl.file.cluster, path: strings.TrimSuffix(user.path, ".extraArgs"), image: pod.Spec.Containers[0].Image,
	}
	command := pod.Spec.Containers[0].Command
	base := command[1 : len(command)-replacing(user.list)]
	for _, text := range base {
		name, value, _ := strings.Cut(strings.TrimPrefix(text, "--"), "=")
		p.args = append(p.args, arg{name: name, value: value, hasValue: true})
	}
	p.args = append(p.args, argsOf(cl.file.cluster, user)...)
	return p
}

// replacing counts the arguments that stand at the end of a command; one with a
// merge method is merged into kubeadm's own argument instead.
func replacing(list []kubeadmapi.Arg) int {
	n := 0
	for _, a := range list {
		if a.MergeMethod == "" {
			n++
		}
	}
	return n
}

// argsOf makes arguments of name-value pairs in a configuration file.
func argsOf(d *document, user userArgs) []arg {
	var args []arg
	for i, a := range user.list {
		if a.MergeMethod != "" {
			continue // judgeMerged has it, and the base argument its value
		}
		at := fmt.Sprintf("%s[%d]", user.path, i)
		name, value := at+".name", at+".value"
		if user.mapping {
			at = user.path + "." + a.Name
			name, value = at, at
		}
		args = append(args, arg{name: a.Name, value: a.Value, hasValue: true, own: true, doc: d, path: at, namePath: name, valuePath: value})
	}
	return args
}

// addKubeletArgs adds the kubelet flags of a file's node registrations.
func (c *checker) addKubeletArgs(f *kubeadmFile) {
	add := func(d *document, n *kubeadmapi.NodeRegistrationOptions) {
		if d == nil || n == nil || len(n.KubeletExtraArgs) == 0 {
			return
		}
		c.processes = append(c.processes, &process{
			component: target.Kubelet, host: dirOf(f.name), doc: d, path: "nodeRegistration", byKubeadm: true,
			args: argsOf(d, userArgs{list: n.KubeletExtraArgs, path: "nodeRegistration.kubeletExtraArgs"}),
		})
	}
	if f.initConfig != nil {
		add(f.init, &f.initConfig.NodeRegistration)
	}
	if f.joinConfig != nil {
		add(f.join, &f.joinConfig.NodeRegistration)
	}
}

// dirOf is the directory of a file, "" for the root.
func dirOf(name string) string {
	if dir := path.Dir(name); dir != "." {
		return dir
	}
	return ""
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
