package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// Shape is what a custom resource's bytes are made of. It decides what they
// weigh in an apiserver's memory, where every field of a custom resource is an
// entry of a map: one long string takes about 1.4 times its stored bytes, small
// maps 5 to 7 times.
type Shape string

// The shapes.
const (
	// Maps is a list of small maps, as reports and inventories are.
	Maps Shape = "maps"
	// Opaque is one string, as an encoded blob is.
	Opaque Shape = "opaque"
)

// content fills an object up to a size.
type content struct {
	Items []contentItem `json:"items"`
	Text  string        `json:"text"`
}

// contentItem always takes itemBytes in JSON.
type contentItem struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	Size  int    `json:"size"`
}

// itemBytes is len(`{"id":"12345678","name":"abcdefghijklmnop","ready":true,"size":1000}`).
const itemBytes = 68

const letters = "abcdefghijklmnopqrstuvwxyz012345"

// text is n letters that do not compress to nothing.
func text(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := 0; i < n; {
		for v, k := r.Uint64(), 0; k < 12 && i < n; k, i, v = k+1, i+1, v>>5 {
			b[i] = letters[v&31]
		}
	}
	return string(b)
}

// fill makes content that takes exactly n bytes more than empty content.
func (s Shape) fill(r *rand.Rand, n int) content {
	c := content{Items: []contentItem{}}
	if s != Opaque {
		// n items and the commas between them.
		for range (n + 1) / (itemBytes + 1) {
			c.Items = append(c.Items, contentItem{text(r, 8), text(r, 16), true, 1000 + r.IntN(9000)})
		}
		if k := len(c.Items); k > 0 {
			n -= k*itemBytes + k - 1
		}
	}
	c.Text = text(r, n)
	return c
}

// fit finds the padding with which an object takes want bytes in etcd, given
// what it takes with some padding. Protobuf writes lengths in a varying number
// of bytes, so that some sizes cannot be had: then the nearest is taken, at most
// 4 bytes away.
func fit(want int, stored func(pad int) (int, error)) (pad, got int, err error) {
	for range 5 {
		got, err = stored(pad)
		if err != nil || got == want {
			return pad, got, err
		}
		if pad == 0 && got > want {
			return 0, got, fmt.Errorf("an object of %d bytes cannot be had: the smallest takes %d", want, got)
		}
		pad = max(pad+want-got, 0)
	}
	if got, err = stored(pad); err == nil && (got > want+4 || got < want-4) {
		err = fmt.Errorf("an object of %d bytes cannot be had: %d is the nearest", want, got)
	}
	return pad, got, err
}

// fitCustom finds the padding for custom objects of want bytes in etcd. A dry
// run gives the object as it would be stored, with what the server adds.
func (d *Driver) fitCustom(ctx context.Context, c Custom, s Shape, load, namespace, name string, want int) (pad, got int, err error) {
	r := d.random("fit")
	return fit(want, func(pad int) (int, error) {
		body, err := c.object(load, namespace, name, s.fill(r, pad))
		if err != nil {
			return 0, err
		}
		raw, err := d.client(0).call(ctx, http.MethodPost, c.path(namespace), "application/json", body,
			map[string]string{"dryRun": metav1.DryRunAll}).Raw()
		if err != nil {
			return 0, fmt.Errorf("dry run of %s: %w", c.Name(), err)
		}
		return storedJSON(raw)
	})
}

// storedJSON is what an answered custom object takes in etcd, in bytes: its
// compact JSON and a newline, without the resourceVersion, which etcd's revision
// stands for.
func storedJSON(answer []byte) (int, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(answer, &object); err != nil {
		return 0, fmt.Errorf("decode answer: %w", err)
	}
	var metadata map[string]json.RawMessage
	if err := json.Unmarshal(object["metadata"], &metadata); err != nil {
		return 0, fmt.Errorf("decode answered metadata: %w", err)
	}
	delete(metadata, "resourceVersion")
	var err error
	if object["metadata"], err = json.Marshal(metadata); err != nil {
		return 0, err
	}
	stored, err := json.Marshal(object)
	return len(stored) + 1, err
}

// storedProtobuf is what an answered built-in object takes in etcd, in bytes, by
// the serializer that kube-apiserver stores with.
func storedProtobuf(object runtime.Object, kind schema.GroupVersionKind) (int, error) {
	object = object.DeepCopyObject()
	m, ok := object.(metav1.Object)
	if !ok {
		return 0, fmt.Errorf("%T has no metadata", object)
	}
	m.SetResourceVersion("")
	object.GetObjectKind().SetGroupVersionKind(kind)
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &b); err != nil {
		return 0, fmt.Errorf("encode %s: %w", kind.Kind, err)
	}
	return b.Len(), nil
}
