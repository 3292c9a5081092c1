package measure

import (
	"bytes"
	"math"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// Sizes out of a list are those that upstream's own code stores the objects with.
func TestProtobufItemsAreAsStored(t *testing.T) {
	codec := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), core.SchemeGroupVersion)
	list := &core.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "12", Continue: "next"}}
	for _, n := range []int{0, 10, 1000, 100000} {
		list.Items = append(list.Items, core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "b"}, Data: map[string]string{"k": strings.Repeat("x", n)}})
	}
	sizes, err := protobufItems(encode(t, codec, list))
	if err != nil || len(sizes) != len(list.Items) {
		t.Fatal(sizes, err)
	}
	for i := range list.Items {
		if stored := len(encode(t, codec, &list.Items[i])); math.Abs(float64(sizes[i]-stored)) > 12 {
			t.Errorf("object %d: %d bytes, stored %d", i, sizes[i], stored)
		}
	}
}

func encode(t *testing.T, codec runtime.Encoder, o runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := codec.Encode(o, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An answer that is cut off or made up ends in an error or in sizes that fit into it.
func FuzzProtobufItems(f *testing.F) {
	f.Add([]byte("k8s\x00\x12\x04\x12\x02ab"))
	f.Add([]byte("k8s\x00\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte("k8s\x00\x0a\x02ab\x10\x01\x1d1234\x19"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sizes, err := protobufItems(data)
		total := 0
		for _, n := range sizes {
			total += n - envelope
		}
		if err == nil && total > len(data) {
			t.Errorf("%d bytes of objects in an answer of %d", total, len(data))
		}
	})
}

func TestJSONItems(t *testing.T) {
	long := strings.Repeat("x", 900)
	sizes, opaque, err := jsonItems([]byte(`{"items":[{"a":"b","list":["` + long + `",1]},{"c":{"d":"e"}}]}`))
	if err != nil || len(sizes) != 2 || sizes[1] != 15 || opaque < 0.9 {
		t.Error(sizes, opaque, err)
	}
	if _, _, err := jsonItems([]byte(`{"items":[`)); err == nil {
		t.Error("half an answer is one")
	}
}
