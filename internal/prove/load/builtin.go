package load

import (
	"context"
	"fmt"
	"strings"

	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtin is a built-in resource that can be made in any size.
type builtin struct {
	kind   schema.GroupVersionKind
	plural string
	// make an object with that much padding.
	make func(meta metav1.ObjectMeta, pad string) runtime.Object
	// create it, and answer what was stored.
	create func(ctx context.Context, api *typed, object runtime.Object, o metav1.CreateOptions) (runtime.Object, error)
}

// path of the resource in a namespace.
func (b builtin) path(namespace string) string {
	base := "/apis/" + b.kind.GroupVersion().String()
	if b.kind.Group == "" {
		base = "/api/" + b.kind.Version
	}
	return strings.Join([]string{base, "namespaces", namespace, b.plural}, "/")
}

// padKey names the annotation that pads what has no content of its own.
const padKey = Group + "/padding"

func padded(meta metav1.ObjectMeta, pad string) metav1.ObjectMeta {
	if pad != "" {
		meta.Annotations = map[string]string{padKey: pad}
	}
	return meta
}

func configMaps() builtin {
	return builtin{
		kind: core.SchemeGroupVersion.WithKind("ConfigMap"), plural: "configmaps",
		make: func(meta metav1.ObjectMeta, pad string) runtime.Object {
			return &core.ConfigMap{ObjectMeta: meta, Data: map[string]string{"content": pad}}
		},
		create: func(ctx context.Context, api *typed, o runtime.Object, opts metav1.CreateOptions) (runtime.Object, error) {
			x := o.(*core.ConfigMap)
			return api.configMaps(x.Namespace).Create(ctx, x, opts)
		},
	}
}

func secrets() builtin {
	return builtin{
		kind: core.SchemeGroupVersion.WithKind("Secret"), plural: "secrets",
		make: func(meta metav1.ObjectMeta, pad string) runtime.Object {
			return &core.Secret{ObjectMeta: meta, Type: core.SecretTypeOpaque, Data: map[string][]byte{"content": []byte(pad)}}
		},
		create: func(ctx context.Context, api *typed, o runtime.Object, opts metav1.CreateOptions) (runtime.Object, error) {
			x := o.(*core.Secret)
			return api.secrets(x.Namespace).Create(ctx, x, opts)
		},
	}
}

func roles() builtin {
	return builtin{
		kind: rbac.SchemeGroupVersion.WithKind("Role"), plural: "roles",
		make: func(meta metav1.ObjectMeta, pad string) runtime.Object {
			return &rbac.Role{ObjectMeta: padded(meta, pad), Rules: []rbac.PolicyRule{{
				APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"},
			}}}
		},
		create: func(ctx context.Context, api *typed, o runtime.Object, opts metav1.CreateOptions) (runtime.Object, error) {
			x := o.(*rbac.Role)
			return api.roles(x.Namespace).Create(ctx, x, opts)
		},
	}
}

// roleBindings bind accounts that do not exist to roles that may not.
func roleBindings() builtin {
	return builtin{
		kind: rbac.SchemeGroupVersion.WithKind("RoleBinding"), plural: "rolebindings",
		make: func(meta metav1.ObjectMeta, pad string) runtime.Object {
			return &rbac.RoleBinding{
				ObjectMeta: padded(meta, pad),
				RoleRef:    rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: meta.Name},
				Subjects:   []rbac.Subject{{Kind: rbac.ServiceAccountKind, Name: meta.Name, Namespace: meta.Namespace}},
			}
		},
		create: func(ctx context.Context, api *typed, o runtime.Object, opts metav1.CreateOptions) (runtime.Object, error) {
			x := o.(*rbac.RoleBinding)
			return api.roleBindings(x.Namespace).Create(ctx, x, opts)
		},
	}
}

// pods that nothing schedules or runs: they name a scheduler that is not there.
func pods() builtin {
	return builtin{
		kind: core.SchemeGroupVersion.WithKind("Pod"), plural: "pods",
		make: func(meta metav1.ObjectMeta, pad string) runtime.Object {
			no := false
			return &core.Pod{ObjectMeta: padded(meta, pad), Spec: core.PodSpec{
				SchedulerName: Group, AutomountServiceAccountToken: &no,
				Containers: []core.Container{{Name: "pause", Image: "pause"}},
				// They land on nodes that nothing else may use.
				Tolerations: []core.Toleration{{Operator: core.TolerationOpExists}},
			}}
		},
		create: func(ctx context.Context, api *typed, o runtime.Object, opts metav1.CreateOptions) (runtime.Object, error) {
			x := o.(*core.Pod)
			return api.pods(x.Namespace).Create(ctx, x, opts)
		},
	}
}

// fitBuiltin finds the padding for objects of want bytes in etcd.
func (d *Driver) fitBuiltin(ctx context.Context, b builtin, meta metav1.ObjectMeta, want int) (pad, got int, err error) {
	r := d.random("fit")
	return fit(want, func(pad int) (int, error) {
		stored, err := b.create(ctx, d.client(0).core, b.make(meta, text(r, pad)), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return 0, fmt.Errorf("dry run of %s: %w", b.plural, err)
		}
		return storedProtobuf(stored, b.kind)
	})
}
