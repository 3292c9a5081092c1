package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	k8sv1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/kubeseams/seams/internal/finding"
)

// judgePod judges a static pod as the kubelet does when it reads a manifest
// (pkg/kubelet/config/common.go), but strictly.
func (c *checker) judgePod(d *document) {
	object := c.strict(d, clientscheme.Scheme)
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	c.validatePod(d, pod)
	c.addPod(d, pod)
}

// validatePod defaults and validates a copy of the pod.
func (c *checker) validatePod(d *document, pod *corev1.Pod) {
	pod = pod.DeepCopy()
	if pod.Name == "" {
		c.at(d, "metadata.name", finding.Finding{Code: "pod-invalid", Severity: finding.Error, Message: "a static pod needs a name"})
		return
	}
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	k8sv1.SetObjectDefaults_Pod(pod)
	internal := &core.Pod{}
	if err := k8sv1.Convert_v1_Pod_To_core_Pod(pod, internal, nil); err != nil {
		c.at(d, "", finding.Finding{Code: "pod-invalid", Severity: finding.Error, Message: err.Error()})
		return
	}
	// The kubelet makes the name unique on the node before it validates.
	internal.Name = fmt.Sprintf("%s-%s", internal.Name, placeholderHost)
	options := podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)
	for _, e := range validation.ValidatePodCreate(internal, options) {
		c.at(d, e.Field, finding.Finding{Code: "pod-invalid", Severity: finding.Error, Message: e.ErrorBody()})
	}
	if has, what, _ := podutil.HasAPIObjectReference(internal); has {
		c.at(d, "spec", finding.Finding{
			Code: "static-pod-reference", Severity: finding.Error,
			Message: fmt.Sprintf("a static pod may not refer to %s, which are objects of the API", what),
			Ref:     "kubernetes pkg/kubelet/config/common.go, PreventStaticPodAPIReferences",
		})
	}
	c.podProbes(d, pod)
}

// podProbes wants a named port of a probe to exist, which upstream does not check.
func (c *checker) podProbes(d *document, pod *corev1.Pod) {
	for i, container := range pod.Spec.Containers {
		for name, probe := range map[string]*corev1.Probe{
			"livenessProbe": container.LivenessProbe, "readinessProbe": container.ReadinessProbe, "startupProbe": container.StartupProbe,
		} {
			if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Port.StrVal == "" {
				continue
			}
			port := probe.HTTPGet.Port.StrVal
			has := false
			for _, p := range container.Ports {
				has = has || p.Name == port
			}
			if !has {
				c.at(d, fmt.Sprintf("spec.containers[%d].%s.httpGet.port", i, name), finding.Finding{
					Code: "probe-port-unknown", Severity: finding.Error,
					Message: fmt.Sprintf("the probe asks at port %q, and the container names no such port", port),
					Fix:     "name the port in ports, or give its number",
				})
			}
		}
	}
}
