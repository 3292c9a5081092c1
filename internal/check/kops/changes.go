package kops

import (
	"fmt"
	"slices"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
)

// Changes judges what becomes of the etcds of a cluster that is there when its
// documents are replaced: kOps refuses some changes, lets the cloud refuse
// others, and for the rest has a way that takes a while. Clusters are known by
// their names; what stands on one side only is no change. Findings are about
// the documents after, sorted by place.
func Changes(before, after []file.File) []finding.Finding {
	var old, c checker
	were := map[string]*cluster{}
	clusters, _ := old.stream(old.documents(before))
	for _, cl := range clusters {
		were[cl.name()] = cl
	}
	clusters, _ = c.stream(c.documents(after))
	c.findings = nil // those of reading are Check's to say
	for _, cl := range clusters {
		if was := were[cl.name()]; was != nil {
			c.etcdChanges(was, cl)
		}
	}
	finding.Sort(c.findings)
	return c.findings
}

func (c *checker) documents(files []file.File) []*document {
	var documents []*document
	for _, f := range files {
		documents = append(documents, c.read(f)...)
	}
	return documents
}

// byName finds an entry of a list by its name, and its place; nil for none.
func byName(list []object, name string) (object, int) {
	i := slices.IndexFunc(list, func(o object) bool { return o.str("name") == name })
	if i < 0 {
		return nil, i
	}
	return list[i], i
}

func (c *checker) etcdChanges(was, cl *cluster) {
	after := cl.spec.objects("etcdClusters")
	for _, old := range was.spec.objects("etcdClusters") {
		e, i := byName(after, old.str("name"))
		if e == nil {
			c.add(cl.at("spec.etcdClusters", finding.Finding{
				Code: "kops-etcd-removed", Severity: finding.Error,
				Message: fmt.Sprintf("the etcd cluster %s is there and not in the new documents: kOps refuses to remove one", old.str("name")),
				Fix:     "leave it, idle, or make a new cluster without it",
				Ref:     "kubernetes/kops pkg/apis/kops/validation/cluster.go ValidateClusterUpdate",
			}))
			continue
		}
		members := e.objects("etcdMembers")
		for _, member := range old.objects("etcdMembers") {
			if m, j := byName(members, member.str("name")); m != nil {
				c.memberChanges(cl, indexed(indexed("spec.etcdClusters", i)+".etcdMembers", j), member, m)
			}
		}
	}
}

// memberChanges are those of one member. kOps compares its name, machine, key
// and encryption itself; the disk's size, kind and speed it hands to the cloud.
func (c *checker) memberChanges(cl *cluster, path string, was, is object) {
	for _, name := range []string{"instanceGroup", "kmsKeyId", "encryptedVolume"} {
		if fmt.Sprint(was[name]) == fmt.Sprint(is[name]) || name == "encryptedVolume" && was.isTrue(name) == is.isTrue(name) {
			continue
		}
		c.add(cl.at(path+"."+name, finding.Finding{
			Code: "kops-etcd-member-fixed", Severity: finding.Error,
			Message: fmt.Sprintf("%s of the member %s changes from %s to %s: kOps refuses it for an etcd that is there", name, is.str("name"), shown(was[name]), shown(is[name])),
			Fix:     "put the former value back; a member with another is a new one, under another name, and the old one goes",
			Ref:     "kubernetes/kops pkg/apis/kops/validation/cluster.go validateEtcdMemberUpdate",
		}))
	}
	for _, name := range []string{"volumeSize", "volumeType", "volumeIops", "volumeThroughput"} {
		if fmt.Sprint(was[name]) != fmt.Sprint(is[name]) && is.has(name) {
			c.add(cl.at(path+"."+name, volumeChange(cl.provider, name, was, is)))
		}
	}
}

// volumeChange says what the cloud does with a disk that is there. kOps asks
// AWS alone to change one (awstasks/ebsvolume.go, from 1.21); of the others
// its tasks say that the field cannot be changed, and "kops update cluster" ends.
func volumeChange(cloud, name string, was, is object) finding.Finding {
	f := finding.Finding{
		Code: "kops-volume-changed", Severity: finding.Warning,
		Message: fmt.Sprintf("%s of the member %s changes from %s to %s", name, is.str("name"), shown(was[name]), shown(is[name])),
		Fix:     "replace the members one at a time: each catches up from the others before the next goes",
		Ref:     "kubernetes/kops#9381",
	}
	before, known := was.number(name)
	now, _ := is.number(name)
	switch {
	case name == "volumeSize" && known && now < before:
		f.Severity = finding.Error
		f.Message += ": no cloud makes a disk smaller, and \"kops update cluster\" ends with its error"
		f.Fix = "put the former size back, or replace the members one at a time"
		f.Ref = "kubernetes/kops#17344"
	case cloud == "aws":
		f.Message += ": kOps has AWS change the disk in place, and etcd gets the room only when its machine is replaced"
		f.Fix = "run \"kops update cluster\", then roll the control plane one machine at a time; see with \"df\" that the room is there"
		f.Ref = "kubernetes/kops#11365"
	case cloud == "":
		f.Message += ": kOps has only AWS change a disk that is there; on other clouds \"kops update cluster\" fails"
	default:
		f.Message += fmt.Sprintf(": kOps does not change a disk on %s, and \"kops update cluster\" fails", cloud)
	}
	return f
}

// shown is a value as a message has it.
func shown(v any) string {
	if v == nil {
		return "kOps' default"
	}
	return fmt.Sprint(v)
}
