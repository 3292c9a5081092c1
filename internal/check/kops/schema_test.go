package kops

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/kubeseams/seams/internal/target"
)

func BenchmarkReadSchemas(b *testing.B) {
	for b.Loop() {
		if _, err := readSchemas(newest); err != nil {
			b.Fatal(err)
		}
	}
}

func TestFieldType(t *testing.T) {
	tests := []struct {
		kops, kind, path, want string
	}{
		{"1.36.2", "Cluster", "spec.etcdClusters.etcdMembers.volumeIops", "int32"},
		{"1.36.2", "Cluster", "spec.etcdClusters.etcdMembers.volumeIOPS", ""},
		{"1.35.2", "Cluster", "spec.kubeAPIServer.compactionInterval", ""},
		{"1.36.0", "Cluster", "spec.kubeAPIServer.compactionInterval", "string"},
		{"1.36.0", "Cluster", "spec.kubeAPIServer.goawayChance", "string"},
		{"1.34.3", "Cluster", "spec.kubeAPIServer.deleteCollectionWorkers", ""},
		{"1.35.2", "Cluster", "spec.kubeAPIServer.deleteCollectionWorkers", "integer"},
		{"1.36.2", "Cluster", "spec.kubeAPIServer.featureGates.Any", "string"},
		{"1.36.2", "Cluster", "spec.kubeScheduler.qps", "quantity"},
		{"1.36.2", "InstanceGroup", "spec.kubelet.kubeAPIBurst", ""},
		{"1.36.2", "InstanceGroup", "spec.rootVolumeIops", "int32"},
		{"1.37.0", "InstanceGroup", "spec.rootVolumeIops", "int32"},
		{"1.36.2", "Node", "spec", ""},
	}
	for _, test := range tests {
		v, err := target.ParseVersion(test.kops)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := FieldType(v, test.kind, test.path)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("kOps %s, %s %s: type %q, %v, want %q", test.kops, test.kind, test.path, got, ok, test.want)
		}
	}
}

// TestStructuralIsUpstreams builds the schemas by upstream's own conversion.
func TestStructuralIsUpstreams(t *testing.T) {
	for minor := oldest; minor <= newest; minor++ {
		got, err := readSchemas(minor)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := data.ReadFile(fmt.Sprintf("data/v1_%d.json.gz", minor))
		if err != nil {
			t.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Schemas map[string]apiextensionsv1.JSONSchemaProps `json:"schemas"`
		}
		if err := json.NewDecoder(r).Decode(&doc); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"Cluster", "InstanceGroup"} {
			props := doc.Schemas[kind]
			var internal apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
				t.Fatal(err)
			}
			want, err := structural.NewStructural(&internal)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got[kind].structural); diff != "" {
				t.Errorf("kOps 1.%d %s (-upstream +ours):\n%s", minor, kind, diff)
			}
			if errs := structural.ValidateStructural(nil, want); len(errs) > 0 {
				t.Errorf("kOps 1.%d %s is not structural: %v", minor, kind, errs)
			}
		}
	}
}
