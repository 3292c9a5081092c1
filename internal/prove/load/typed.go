package load

import (
	"context"
	"net/http"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/kubernetes/scheme"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacv1 "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"
)

// typed are the resources that loads speak to, by client-go's generic client.
// Its whole clientset would keep the code of every group in the program, and
// that of a group the code of applying each of its resources: 13 MB together.
type typed struct {
	core, rbac   rest.Interface
	coordination *coordinationv1.CoordinationV1Client
}

func newTyped(config *rest.Config, http *http.Client) (*typed, error) {
	c, err := corev1.NewForConfigAndClient(config, http)
	if err != nil {
		return nil, err
	}
	r, err := rbacv1.NewForConfigAndClient(config, http)
	if err != nil {
		return nil, err
	}
	l, err := coordinationv1.NewForConfigAndClient(config, http)
	if err != nil {
		return nil, err
	}
	return &typed{core: c.RESTClient(), rbac: r.RESTClient(), coordination: l}, nil
}

// object is what gentype asks of a type.
type object interface {
	metav1.Object
	runtime.Object
}

// of is a client of a resource, in protobuf as components speak.
func of[T object](c rest.Interface, resource, namespace string, empty func() T) *gentype.Client[T] {
	return gentype.NewClient(resource, c, scheme.ParameterCodec, namespace, empty, gentype.PrefersProtobuf[T]())
}

func (t *typed) configMaps(namespace string) *gentype.Client[*core.ConfigMap] {
	return of(t.core, "configmaps", namespace, func() *core.ConfigMap { return &core.ConfigMap{} })
}

func (t *typed) secrets(namespace string) *gentype.Client[*core.Secret] {
	return of(t.core, "secrets", namespace, func() *core.Secret { return &core.Secret{} })
}

func (t *typed) pods(namespace string) *gentype.Client[*core.Pod] {
	return of(t.core, "pods", namespace, func() *core.Pod { return &core.Pod{} })
}

// bind puts a Pod on a node, as a scheduler does.
func (t *typed) bind(ctx context.Context, b *core.Binding) error {
	return t.core.Post().UseProtobufAsDefault().Namespace(b.Namespace).Resource("pods").Name(b.Name).SubResource("binding").
		VersionedParams(&metav1.CreateOptions{}, scheme.ParameterCodec).Body(b).Do(ctx).Error()
}

func (t *typed) events(namespace string) *gentype.ClientWithList[*core.Event, *core.EventList] {
	return gentype.NewClientWithList("events", t.core, scheme.ParameterCodec, namespace,
		func() *core.Event { return &core.Event{} }, func() *core.EventList { return &core.EventList{} },
		gentype.PrefersProtobuf[*core.Event]())
}

func (t *typed) nodes() *gentype.ClientWithList[*core.Node, *core.NodeList] {
	return gentype.NewClientWithList("nodes", t.core, scheme.ParameterCodec, "",
		func() *core.Node { return &core.Node{} }, func() *core.NodeList { return &core.NodeList{} },
		gentype.PrefersProtobuf[*core.Node]())
}

func (t *typed) namespaces() *gentype.Client[*core.Namespace] {
	return of(t.core, "namespaces", "", func() *core.Namespace { return &core.Namespace{} })
}

func (t *typed) serviceAccounts(namespace string) *gentype.Client[*core.ServiceAccount] {
	return of(t.core, "serviceaccounts", namespace, func() *core.ServiceAccount { return &core.ServiceAccount{} })
}

func (t *typed) roles(namespace string) *gentype.Client[*rbac.Role] {
	return of(t.rbac, "roles", namespace, func() *rbac.Role { return &rbac.Role{} })
}

func (t *typed) roleBindings(namespace string) *gentype.Client[*rbac.RoleBinding] {
	return of(t.rbac, "rolebindings", namespace, func() *rbac.RoleBinding { return &rbac.RoleBinding{} })
}

func (t *typed) leases(namespace string) coordinationv1.LeaseInterface {
	return t.coordination.Leases(namespace)
}
