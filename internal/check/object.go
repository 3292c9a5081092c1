package check

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	k8sappsv1 "k8s.io/kubernetes/pkg/apis/apps/v1"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	k8sv1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/rbac"
	k8srbacv1 "k8s.io/kubernetes/pkg/apis/rbac/v1"
	rbacvalidation "k8s.io/kubernetes/pkg/apis/rbac/validation"

	"github.com/kubeseams/seams/internal/finding"
)

// judgeObject judges an API object: strictly decoded, and validated as
// kube-apiserver would where its validation can be had without a server.
func (c *checker) judgeObject(d *document) {
	switch {
	case d.apiVersion == "v1" && d.kind == "Pod":
		c.judgePod(d)
		return
	case d.apiVersion == "v1" && d.kind == "Config":
		c.judgeKubeconfig(d)
		return
	case d.group() == "apiregistration.k8s.io" && d.kind == "APIService":
		c.judgeAPIService(d)
		return
	case d.group() == "apiextensions.k8s.io" && d.kind == "CustomResourceDefinition":
		c.judgeCRD(d)
		return
	case d.apiVersion == "" || d.kind == "" || !clientscheme.Scheme.Recognizes(d.gvk()):
		c.unjudged(d)
		return
	}
	object := c.strict(d, clientscheme.Scheme)
	if object == nil {
		return
	}
	errors, err := validate(object)
	if err != nil {
		c.at(d, "", finding.Finding{Code: "object-invalid", Severity: finding.Error, Message: err.Error()})
	}
	for _, e := range errors {
		c.at(d, e.Field, finding.Finding{Code: "object-invalid", Severity: finding.Error, Message: fmt.Sprintf("%s: %s", d.kind, e.ErrorBody())})
	}
	c.addTemplate(d, object)
}

// validate runs upstream's validation of a new object on a defaulted copy;
// kinds without one here have only been decoded.
func validate(object runtime.Object) (field.ErrorList, error) {
	object = object.DeepCopyObject()
	namespaceDefault(object)
	switch o := object.(type) {
	case *corev1.Service:
		k8sv1.SetObjectDefaults_Service(o)
		// The server fills the list from the one (registry/core/service).
		if len(o.Spec.ClusterIPs) == 0 && o.Spec.ClusterIP != "" {
			o.Spec.ClusterIPs = []string{o.Spec.ClusterIP}
		}
		return converted(o, k8sv1.Convert_v1_Service_To_core_Service, validation.ValidateServiceCreate)
	case *corev1.ConfigMap:
		return converted(o, k8sv1.Convert_v1_ConfigMap_To_core_ConfigMap, validation.ValidateConfigMap)
	case *corev1.Secret:
		k8sv1.SetObjectDefaults_Secret(o)
		return converted(o, k8sv1.Convert_v1_Secret_To_core_Secret, validation.ValidateSecret)
	case *corev1.ServiceAccount:
		return converted(o, k8sv1.Convert_v1_ServiceAccount_To_core_ServiceAccount, validation.ValidateServiceAccount)
	case *corev1.Namespace:
		return converted(o, k8sv1.Convert_v1_Namespace_To_core_Namespace, validation.ValidateNamespace)
	case *corev1.Endpoints:
		return converted(o, k8sv1.Convert_v1_Endpoints_To_core_Endpoints, validation.ValidateEndpointsCreate)
	}
	return validateMore(object)
}

func validateMore(object runtime.Object) (field.ErrorList, error) {
	switch o := object.(type) {
	case *rbacv1.Role:
		return converted(o, k8srbacv1.Convert_v1_Role_To_rbac_Role, rbacvalidation.ValidateRole)
	case *rbacv1.ClusterRole:
		return converted(o, k8srbacv1.Convert_v1_ClusterRole_To_rbac_ClusterRole, func(r *rbac.ClusterRole) field.ErrorList {
			return rbacvalidation.ValidateClusterRole(r, rbacvalidation.ClusterRoleValidationOptions{})
		})
	case *rbacv1.RoleBinding:
		k8srbacv1.SetObjectDefaults_RoleBinding(o)
		return converted(o, k8srbacv1.Convert_v1_RoleBinding_To_rbac_RoleBinding, rbacvalidation.ValidateRoleBinding)
	case *rbacv1.ClusterRoleBinding:
		k8srbacv1.SetObjectDefaults_ClusterRoleBinding(o)
		return converted(o, k8srbacv1.Convert_v1_ClusterRoleBinding_To_rbac_ClusterRoleBinding, rbacvalidation.ValidateClusterRoleBinding)
	case *appsv1.Deployment:
		k8sappsv1.SetObjectDefaults_Deployment(o)
		return converted(o, k8sappsv1.Convert_v1_Deployment_To_apps_Deployment, func(x *apps.Deployment) field.ErrorList {
			return appsvalidation.ValidateDeployment(x, validation.PodValidationOptions{})
		})
	case *appsv1.StatefulSet:
		k8sappsv1.SetObjectDefaults_StatefulSet(o)
		return converted(o, k8sappsv1.Convert_v1_StatefulSet_To_apps_StatefulSet, func(x *apps.StatefulSet) field.ErrorList {
			return appsvalidation.ValidateStatefulSet(x, appsvalidation.StatefulSetValidationOptions{}, validation.PodValidationOptions{})
		})
	case *appsv1.DaemonSet:
		k8sappsv1.SetObjectDefaults_DaemonSet(o)
		return converted(o, k8sappsv1.Convert_v1_DaemonSet_To_apps_DaemonSet, func(x *apps.DaemonSet) field.ErrorList {
			return appsvalidation.ValidateDaemonSet(x, validation.PodValidationOptions{})
		})
	}
	return nil, nil
}

// converted validates an object in upstream's internal form.
func converted[In, Out any, S any](in *In, convert func(*In, *Out, S) error, validate func(*Out) field.ErrorList) (field.ErrorList, error) {
	out := new(Out)
	var scope S // nil: the conversions of these types use none
	if err := convert(in, out, scope); err != nil {
		return nil, err
	}
	return validate(out), nil
}

// clusterScoped are the kinds here that have no namespace.
func clusterScoped(object runtime.Object) bool {
	switch object.(type) {
	case *corev1.Namespace, *rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding:
		return true
	}
	return false
}

// namespaceDefault does what a client does for an object without a namespace.
func namespaceDefault(object runtime.Object) {
	if o, ok := object.(metav1.Object); ok && o.GetNamespace() == "" && !clusterScoped(object) {
		o.SetNamespace(metav1.NamespaceDefault)
	}
}

// addTemplate takes the command lines out of a workload's pod template.
func (c *checker) addTemplate(d *document, object runtime.Object) {
	var template *corev1.PodTemplateSpec
	var name string
	var claims []corev1.Volume
	switch o := object.(type) {
	case *appsv1.Deployment:
		template, name = &o.Spec.Template, o.Name
	case *appsv1.StatefulSet:
		template, name = &o.Spec.Template, o.Name
		for _, c := range o.Spec.VolumeClaimTemplates {
			claims = append(claims, corev1.Volume{Name: c.Name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Name},
			}})
		}
	case *appsv1.DaemonSet:
		template, name = &o.Spec.Template, o.Name
	default:
		return
	}
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Name, pod.Namespace = name, ""
	pod.Spec.Volumes = append(slices.Clone(pod.Spec.Volumes), claims...)
	c.addPodAt(d, "spec.template.", pod)
}
