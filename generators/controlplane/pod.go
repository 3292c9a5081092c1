package controlplane

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// nodeCriticalPriority is what system-node-critical stands for; a static pod
// states it, since no admission fills it in.
const nodeCriticalPriority int32 = 2000001000

const probePort = "probe-port"

// component is what the pods of the control plane differ in.
type component struct {
	// name is the pod's; container is the program's and the container's.
	name, container string
	image           string
	command         []string
	env             map[string]string
	// port is where the probes go, on host (empty means the pod's address).
	port   int
	host   string
	scheme corev1.URIScheme
	probes ProbePaths
	cpu    string
	memory string
	mounts []mount
	// dns is how names are resolved; empty means as the host does.
	dns corev1.DNSPolicy
	// asRoot has the pod run as root, whatever user its image names.
	asRoot bool
}

// mount is one volume at the same path in the pod as on the host.
type mount struct {
	name     string
	path     string
	kind     corev1.HostPathType
	readOnly bool
}

// pod lays a component out as kubeadm does, with one difference: the label
// component is the pod's own name. kubeadm finds its members of etcd and its
// one apiserver of a host by component=etcd|kube-apiserver,tier=control-plane
// and fails when it finds others.
func (c component) pod() *corev1.Pod {
	priority := nodeCriticalPriority
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(c.cpu)}
	if c.memory != "" {
		requests[corev1.ResourceMemory] = resource.MustParse(c.memory)
	}
	container := corev1.Container{
		Name:            c.container,
		Image:           c.image,
		Command:         c.command,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Ports:           []corev1.ContainerPort{{Name: probePort, ContainerPort: int32(c.port), Protocol: corev1.ProtocolTCP}},
		Resources:       corev1.ResourceRequirements{Requests: requests},
		StartupProbe:    c.probe(c.probes.Start, 10, 24, 10),
		LivenessProbe:   c.probe(c.probes.Live, 10, 8, 10),
		ReadinessProbe:  c.probe(c.probes.Ready, 0, 3, 1),
	}
	for _, name := range slices.Sorted(maps.Keys(c.env)) {
		container.Env = append(container.Env, corev1.EnvVar{Name: name, Value: c.env[name]})
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name:      c.name,
			Namespace: metav1.NamespaceSystem,
			Labels:    map[string]string{"component": c.name, "tier": "control-plane"},
		},
		Spec: corev1.PodSpec{
			HostNetwork:       true,
			DNSPolicy:         c.dns,
			Priority:          &priority,
			PriorityClassName: "system-node-critical",
			SecurityContext:   &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		},
	}
	for _, m := range c.mounts {
		pod.Spec.Volumes = append(pod.Spec.Volumes, m.volume())
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: m.name, MountPath: m.path, ReadOnly: m.readOnly})
	}
	if c.asRoot {
		root := int64(0)
		pod.Spec.SecurityContext.RunAsUser, pod.Spec.SecurityContext.RunAsGroup = &root, &root
	}
	pod.Spec.Containers = []corev1.Container{container}
	return pod
}

// probe is none for a component without that path; the numbers are kubeadm's.
func (c component) probe(path string, delay, failures, period int32) *corev1.Probe {
	if path == "" {
		return nil
	}
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Host: c.host, Path: path, Port: intstr.FromString(probePort), Scheme: c.scheme,
		}},
		InitialDelaySeconds: delay,
		TimeoutSeconds:      15,
		FailureThreshold:    failures,
		PeriodSeconds:       period,
	}
}

func (m mount) volume() corev1.Volume {
	kind := m.kind
	return corev1.Volume{Name: m.name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: m.path, Type: &kind}}}
}

// image is a release image of Kubernetes.
func image(program string, version string) string {
	return ImageRepository + "/" + program + ":v" + version
}

// ImageRepository is where upstream publishes its images.
const ImageRepository = "registry.k8s.io"
