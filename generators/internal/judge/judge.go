// Package judge has upstream's code say whether generated files would be
// taken, for the tests of the generators.
package judge

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	core "k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // registers the scheme that the kubelet decodes static pods with
	"k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/kubeseams/seams/internal/target"
)

// Pod decodes a static pod strictly, defaults it and validates it, as the
// kubelet does with a file of its manifests directory.
func Pod(data []byte) (*corev1.Pod, error) {
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, legacyscheme.Scheme, legacyscheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	pod := &corev1.Pod{}
	if _, _, err := strict.Decode(data, nil, pod); err != nil {
		return nil, fmt.Errorf("strict decoding: %w", err)
	}
	if pod.Kind != "Pod" || pod.APIVersion != "v1" {
		return nil, fmt.Errorf("%s %s is not a Pod", pod.APIVersion, pod.Kind)
	}
	object, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), data)
	if err != nil {
		return nil, fmt.Errorf("decoding with defaults: %w", err)
	}
	internal, ok := object.(*core.Pod)
	if !ok {
		return nil, fmt.Errorf("decoded a %T", object)
	}
	// What the kubelet's file source sets before it validates.
	internal.UID = "0123456789"
	internal.Spec.NodeName = "node"
	internal.Spec.Tolerations = append(internal.Spec.Tolerations, core.Toleration{Operator: "Exists", Effect: core.TaintEffectNoExecute})
	options := podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)
	if errs := validation.ValidatePodCreate(internal, options); len(errs) > 0 {
		return nil, fmt.Errorf("validation: %w", errs.ToAggregate())
	}
	if _, kind, err := podutil.HasAPIObjectReference(internal); err != nil || kind != "" {
		return nil, fmt.Errorf("a static pod may not reference %s: %w", kind, err)
	}
	return pod, nil
}

// Flags are a container's flags by name. A flag that stands twice, or without
// a value, is an error.
func Flags(c corev1.Container) (map[string]string, error) {
	flags := map[string]string{}
	for _, arg := range c.Command[1:] {
		name, value, ok := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !ok || !strings.HasPrefix(arg, "--") {
			return nil, fmt.Errorf("argument %q is not --name=value", arg)
		}
		if _, twice := flags[name]; twice {
			return nil, fmt.Errorf("flag %s stands twice", name)
		}
		flags[name] = value
	}
	return flags, nil
}

// KnownFlags reports the first flag that its program does not have in a
// version. It knows nothing of a program whose flags are not in the tables.
func KnownFlags(kubernetes target.Version, program string, flags map[string]string) error {
	table, ok := target.Flags(kubernetes, program)
	if !ok {
		return nil
	}
	for name := range flags {
		f, ok := table.Find(name)
		if !ok {
			return fmt.Errorf("%s %s has no flag %s", program, kubernetes, name)
		}
		if f.Deprecated != "" {
			return fmt.Errorf("flag %s of %s %s is deprecated: %s", name, program, kubernetes, f.Deprecated)
		}
	}
	return nil
}
