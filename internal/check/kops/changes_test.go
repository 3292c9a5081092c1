package kops

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/file"
)

const changing = `apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata:
  name: big.example.internal
spec:
  cloudProvider: aws
  etcdClusters:
  - name: main
    etcdMembers:
    - name: a
      instanceGroup: cp-a
      encryptedVolume: true
      volumeSize: 20
  - name: events
    etcdMembers:
    - name: a
      instanceGroup: cp-a
`

// TestChanges: what kOps and the clouds do with an etcd that is there.
func TestChanges(t *testing.T) {
	for _, tc := range []struct {
		name, old, new string
		cloud          string
		want           []string
		says           string
	}{
		{name: "nothing"},
		{name: "case 40, grown on AWS", old: "volumeSize: 20", new: "volumeSize: 100", cloud: "aws", want: []string{"13 warning kops-volume-changed spec.etcdClusters[0].etcdMembers[0].volumeSize"}, says: "in place"},
		{name: "case 40, grown on GCE", old: "volumeSize: 20", new: "volumeSize: 100", cloud: "gce", want: []string{"13 warning kops-volume-changed spec.etcdClusters[0].etcdMembers[0].volumeSize"}, says: "does not change a disk on gce"},
		{name: "case 40, cloud unknown", old: "volumeSize: 20", new: "volumeSize: 100", cloud: `""`, want: []string{"13 warning kops-volume-changed spec.etcdClusters[0].etcdMembers[0].volumeSize"}, says: "only AWS"},
		{name: "shrunk", old: "volumeSize: 20", new: "volumeSize: 10", cloud: "aws", want: []string{"13 error kops-volume-changed spec.etcdClusters[0].etcdMembers[0].volumeSize"}, says: "smaller"},
		{name: "another kind of disk", old: "volumeSize: 20", new: "volumeSize: 20\n      volumeType: io2\n      volumeIops: 10000", cloud: "aws",
			want: []string{"14 warning kops-volume-changed spec.etcdClusters[0].etcdMembers[0].volumeType", "15 warning kops-volume-changed spec.etcdClusters[0].etcdMembers[0].volumeIops"}, says: "kOps' default"},
		{name: "moved", old: "instanceGroup: cp-a\n      encryptedVolume", new: "instanceGroup: cp-b\n      encryptedVolume", cloud: "aws", want: []string{"11 error kops-etcd-member-fixed spec.etcdClusters[0].etcdMembers[0].instanceGroup"}},
		{name: "encryption", old: "encryptedVolume: true", new: "encryptedVolume: false", cloud: "aws", want: []string{"12 error kops-etcd-member-fixed spec.etcdClusters[0].etcdMembers[0].encryptedVolume"}},
		{name: "removed", old: "  - name: events\n    etcdMembers:\n    - name: a\n      instanceGroup: cp-a\n", cloud: "aws", want: []string{"7 error kops-etcd-removed spec.etcdClusters"}},
		{name: "a member more", old: "  - name: events", new: "    - name: b\n      instanceGroup: cp-b\n      volumeSize: 40\n  - name: events", cloud: "aws"},
		{name: "another cluster", old: "name: big", new: "name: small", cloud: "aws"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := changing
			if tc.cloud != "" {
				before = strings.Replace(before, "cloudProvider: aws", "cloudProvider: "+tc.cloud, 1)
			}
			after := before
			if tc.old != "" {
				if after = strings.Replace(before, tc.old, tc.new, 1); after == before {
					t.Fatalf("%q changes nothing", tc.old)
				}
			}
			got := Changes([]file.File{{Path: "a.yaml", Data: []byte(before)}}, []file.File{{Path: "b.yaml", Data: []byte(after)}})
			if diff := cmp.Diff(tc.want, brief(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(got) > 0 && (!strings.Contains(got[0].Message+got[len(got)-1].Message, tc.says) || got[0].File != "b.yaml" || got[0].Fix == "") {
				t.Errorf("want %q of b.yaml in %s", tc.says, got[0])
			}
		})
	}
}

// FuzzChanges: whatever two documents hold, nothing panics, and a document has
// no changes against itself.
func FuzzChanges(f *testing.F) {
	f.Add(changing, strings.Replace(changing, "volumeSize: 20", "volumeSize: big", 1))
	f.Add(changing, "apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec: {etcdClusters: [1, {etcdMembers: {}}]}\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		a, b := []file.File{{Path: "a.yaml", Data: []byte(before)}}, []file.File{{Path: "b.yaml", Data: []byte(after)}}
		Changes(a, b)
		for _, finding := range Changes(a, a) {
			if finding.Code != "kops-etcd-member-fixed" && finding.Code != "kops-volume-changed" { // members of one name twice
				t.Fatalf("%q against itself: %s", before, finding)
			}
		}
	})
}
