package cluster

import (
	"encoding/json"
	"fmt"
	"path"
	"time"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/prove/load"
)

// object is one thing that a run makes.
type object struct {
	// kind for messages: "Namespace".
	kind string
	// collection is its path without the name.
	collection, name string
	// namespace is empty for what is of the whole cluster.
	namespace string
	body      any
}

func (o object) String() string {
	if o.namespace != "" {
		return fmt.Sprintf("%s %s in %s", o.kind, o.name, o.namespace)
	}
	return o.kind + " " + o.name
}

const namespaces = "/api/v1/namespaces"

func inNamespace(base, namespace, resource string) string {
	return path.Join(base, "namespaces", namespace, resource)
}

func configMaps(namespace string) string { return inNamespace("/api/v1", namespace, "configmaps") }

// maker makes the objects of a run, each with its label.
type maker struct {
	spec    Spec
	options Options
	all     []object
}

func (m *maker) meta(name, namespace string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{RunLabel: m.spec.Run}}
}

func (m *maker) add(kind, collection string, meta metav1.ObjectMeta, body any) {
	m.all = append(m.all, object{kind, collection, meta.Name, meta.Namespace, body})
}

// objects are all of a run, in the order of making; those that start Pods last.
func objects(s Spec, o Options) ([]object, error) {
	m := &maker{spec: s, options: o}
	m.namespace(Namespace, "restricted")
	for i := range s.Parts {
		// Its Pods have no node to run on, and say nothing of their security.
		m.namespace(partNamespace(i), "baseline")
	}
	for _, c := range s.Load.Custom() {
		d := c.Definition()
		d.Labels = map[string]string{RunLabel: s.Run}
		m.add("CustomResourceDefinition", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", d.ObjectMeta, d)
	}
	m.access()
	if err := m.maps(); err != nil {
		return nil, err
	}
	if s.Load.NodesBy == load.Kwok {
		m.kwok()
	}
	m.job()
	return m.all, nil
}

func (m *maker) namespace(name, security string) {
	meta := m.meta(name, "")
	meta.Labels["pod-security.kubernetes.io/enforce"] = security
	m.add("Namespace", namespaces, meta, &core.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: meta})
}

func (m *maker) configMap(name string, data map[string]string) {
	meta := m.meta(name, Namespace)
	m.add("ConfigMap", configMaps(Namespace), meta,
		&core.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta, Data: data})
}

func (m *maker) maps() error {
	spec, err := json.Marshal(m.spec)
	if err != nil {
		return err
	}
	m.configMap(specMap, map[string]string{specFile: string(spec)})
	m.configMap(controlMap, nil)
	for i := range m.spec.Parts {
		m.configMap(partMap(i), nil)
	}
	if m.spec.Load.NodesBy == load.Kwok {
		m.configMap(stagesMap, map[string]string{stagesFile: string(load.KwokStages())})
	}
	return nil
}

// overtime is how long preparing may take: after it the Pods end by themselves,
// should nobody be there to end them.
const overtime = time.Hour

func (m *maker) job() {
	meta := m.meta(loadName, Namespace)
	parts, none := int32(m.spec.Parts), int32(0)
	indexed, deadline := batch.IndexedCompletion, int64((m.spec.Load.Duration() + overtime).Seconds())
	pod := m.pod(loadName, specMap, specMount, core.Container{
		Name: "load", Image: m.options.Image,
		Command: []string{"/seams", "load", "--spec=" + specMount + "/" + specFile},
		Env: []core.EnvVar{{Name: IndexVariable, ValueFrom: &core.EnvVarSource{
			FieldRef: &core.ObjectFieldSelector{FieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"},
		}}},
	})
	pod.Spec.RestartPolicy = core.RestartPolicyNever
	pod.Spec.TopologySpreadConstraints = []core.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: core.LabelHostname, WhenUnsatisfiable: core.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels},
	}}
	m.add("Job", inNamespace("/apis/batch/v1", Namespace, "jobs"), meta, &batch.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: meta,
		Spec: batch.JobSpec{
			Completions: &parts, Parallelism: &parts, CompletionMode: &indexed,
			// A part that was begun twice would be two loads.
			BackoffLimit: &none, ActiveDeadlineSeconds: &deadline, Template: pod,
		},
	})
}

// IndexVariable tells a Pod of the Job which part it is.
const IndexVariable = "JOB_COMPLETION_INDEX"

func (m *maker) kwok() {
	meta, one := m.meta(kwokName, Namespace), int32(1)
	c := core.Container{
		Name: "kwok", Image: m.options.Image, Command: []string{"/kwok"},
		Args: load.KwokArguments(stagesMount+"/"+stagesFile, selectorOf(m.spec.Run), 0),
	}
	if m.options.KwokImage != "" {
		// kwok's own image begins with kwok.
		c.Image, c.Command = m.options.KwokImage, nil
	}
	pod := m.pod(kwokName, stagesMap, stagesMount, c)
	m.add("Deployment", inNamespace("/apis/apps/v1", Namespace, "deployments"), meta, &apps.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: meta,
		Spec: apps.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: pod.Labels}, Template: pod,
			Strategy: apps.DeploymentStrategy{Type: apps.RecreateDeploymentStrategyType},
		},
	})
}

// pod is a template that runs one container without any right on its node.
func (m *maker) pod(account, configMap, mount string, c core.Container) core.PodTemplateSpec {
	yes, no, user, grace := true, false, int64(65532), int64(5)
	c.VolumeMounts = []core.VolumeMount{{Name: "config", MountPath: mount, ReadOnly: true}}
	c.Resources.Requests = core.ResourceList{
		core.ResourceCPU: resource.MustParse("500m"), core.ResourceMemory: resource.MustParse("128Mi"),
	}
	c.SecurityContext = &core.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
		Capabilities: &core.Capabilities{Drop: []core.Capability{"ALL"}},
	}
	return core.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{RunLabel: m.spec.Run, "app": account}},
		Spec: core.PodSpec{
			ServiceAccountName:            account,
			TerminationGracePeriodSeconds: &grace,
			SecurityContext: &core.PodSecurityContext{
				RunAsNonRoot: &yes, RunAsUser: &user, SeccompProfile: &core.SeccompProfile{Type: core.SeccompProfileTypeRuntimeDefault},
			},
			Volumes: []core.Volume{{Name: "config", VolumeSource: core.VolumeSource{
				ConfigMap: &core.ConfigMapVolumeSource{LocalObjectReference: core.LocalObjectReference{Name: configMap}},
			}}},
			Containers: []core.Container{c},
		},
	}
}
