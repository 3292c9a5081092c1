package load

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// Group is the API group of the custom resources that loads define. Others end
// in ".prove.seams.dev" by custom, but any is served.
const Group = "prove.seams.dev"

// CustomVersion is the only version of each of them.
const CustomVersion = "v1"

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	loadLabel       = Group + "/load"
)

// Custom is a custom resource that loads define and fill.
type Custom struct{ Group, Plural, Singular, Kind string }

// Sessions churn; the group is "" for Group.
func Sessions(group string) Custom { return custom(group, "sessions", "session", "Session") }

// Dormants lie still; the group is "" for Group.
func Dormants(group string) Custom { return custom(group, "dormants", "dormant", "Dormant") }

func custom(group, plural, singular, kind string) Custom {
	if group == "" {
		group = Group
	}
	return Custom{group, plural, singular, kind}
}

// Name is the resource as kube-apiserver's flags and metrics write it.
func (c Custom) Name() string { return c.Plural + "." + c.Group }

// path of the resource, of a namespace unless that is empty.
func (c Custom) path(namespace string, more ...string) string {
	base := path.Join("/apis", c.Group, CustomVersion)
	if namespace != "" {
		base = path.Join(base, "namespaces", namespace)
	}
	return path.Join(append([]string{base, c.Plural}, more...)...)
}

// Definition is the CustomResourceDefinition, with a status subresource and a
// schema that takes any content: what is measured is storage and fan-out, not
// validation.
func (c Custom) Definition() *apiextensions.CustomResourceDefinition {
	open := true
	free := apiextensions.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}
	return &apiextensions.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: c.Name()},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: c.Group,
			Names: apiextensions.CustomResourceDefinitionNames{
				Plural: c.Plural, Singular: c.Singular, Kind: c.Kind, ListKind: c.Kind + "List",
			},
			Scope: apiextensions.NamespaceScoped,
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: CustomVersion, Served: true, Storage: true,
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{
					Type:       "object",
					Properties: map[string]apiextensions.JSONSchemaProps{"spec": free, "status": free},
				}},
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

// define creates the resource where definitions live, and waits until every
// server serves it: each learns of it by its own watch.
func (d *Driver) define(ctx context.Context, c Custom) error {
	if !d.opts.Provided {
		if err := d.definer(c.Group).post(ctx, c); err != nil {
			return err
		}
	}
	for _, client := range d.clients {
		if err := client.served(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// post creates the definition; one that is there already will do.
func (to *client) post(ctx context.Context, c Custom) error {
	body, err := json.Marshal(c.Definition())
	if err != nil {
		return err
	}
	err = to.json.Post().AbsPath(definitionsPath).SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Error()
	if err = ignoreExists(err); err != nil {
		return fmt.Errorf("define %s: %w", c.Name(), err)
	}
	return nil
}

// Define creates the resource where the group's definitions live (Definers), and
// returns when that server serves it, past any other: what an APIService has to
// find.
func (d *Driver) Define(ctx context.Context, c Custom) error {
	server := d.definer(c.Group)
	if err := server.post(ctx, c); err != nil {
		return err
	}
	return server.served(ctx, c)
}

// served waits until a server serves the resource.
func (to *client) served(ctx context.Context, c Custom) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = to.json.Get().AbsPath(c.path("")).Param("limit", "1").Do(ctx).Error()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait until %s is served: %w (last answer: %v)", c.Name(), err, last)
	}
	return nil
}

// undefine deletes the resource and waits until it is gone, with what is left of
// its objects.
func (d *Driver) undefine(ctx context.Context, c Custom) error {
	if d.opts.Provided {
		return nil
	}
	at, server := path.Join(definitionsPath, c.Name()), d.definer(c.Group)
	err := server.json.Delete().AbsPath(at).Do(ctx).Error()
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete definition %s: %w", c.Name(), err)
	}
	err = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		return apierrors.IsNotFound(server.json.Get().AbsPath(at).Do(ctx).Error()), nil
	})
	if err != nil {
		return fmt.Errorf("wait until definition %s is gone: %w", c.Name(), err)
	}
	return nil
}

// customObject is an object on its way to the server.
type customObject struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Metadata   objectNames `json:"metadata"`
	Spec       customSpec  `json:"spec"`
}

type objectNames struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels,omitempty"`
}

type customSpec struct {
	Desired string  `json:"desired"`
	Content content `json:"content"`
}

func (c Custom) object(load, namespace, name string, content content) ([]byte, error) {
	return json.Marshal(customObject{
		APIVersion: c.Group + "/" + CustomVersion,
		Kind:       c.Kind,
		Metadata:   objectNames{name, namespace, map[string]string{loadLabel: load}},
		Spec:       customSpec{Desired: "Running", Content: content},
	})
}

// call makes one call with a JSON body, nil for none.
func (c *client) call(ctx context.Context, verb, path, contentType string, body []byte, params map[string]string) rest.Result {
	r := c.json.Verb(verb).AbsPath(path)
	if body != nil {
		r = r.SetHeader("Content-Type", contentType).Body(body)
	}
	for k, v := range params {
		r = r.Param(k, v)
	}
	return r.Do(ctx)
}

func (c *client) createCustom(ctx context.Context, resource Custom, namespace string, body []byte) error {
	return c.call(ctx, http.MethodPost, resource.path(namespace), "application/json", body, nil).Error()
}

// sweep deletes what a load left at a path, by the load's label.
func (d *Driver) sweep(ctx context.Context, load, at string) error {
	var left []string
	_, _, err := d.client(0).list(ctx, at, map[string]string{"labelSelector": loadLabel + "=" + load}, 500, func(s seen) {
		left = append(left, s.Name)
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.each(ctx, load, "cleanup", len(left), func(ctx context.Context, i int) error {
		err := d.client(i).call(ctx, http.MethodDelete, path.Join(at, left[i]), "", nil, map[string]string{"gracePeriodSeconds": "0"}).Error()
		return ignoreNotFound(err)
	})
}
