package kops

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/yamltext"
)

// etcd is what is wanted of the etcd clusters: a quota for each, no smaller than
// the user's own, and those that are missing with a member beside each of main's.
func (m *merger) etcd() (yamltext.Keyed, bool) {
	list := yamltext.Keyed{Key: "name"}
	have := mappings(m.clusterSpec(), "etcdClusters")
	find := func(name string) map[string]any {
		i := slices.IndexFunc(have, func(e map[string]any) bool { return str(e, "name") == name })
		if i < 0 {
			return nil
		}
		return have[i]
	}
	main := find("main")
	if main == nil {
		m.say(finding.Finding{
			Code: "kops-etcd-no-main", Severity: finding.Error, Path: "spec.etcdClusters",
			Message: "the Cluster has no etcd cluster named main, so none is changed or added",
		})
		return list, false
	}
	for _, s := range m.wanted.shards {
		entry := map[string]any{"name": s.name}
		old := find(s.name)
		if env := m.env(s, old); len(env) > 0 {
			entry["manager"] = map[string]any{"env": variables(env)}
		}
		if old == nil {
			m.join(entry, main)
		} else {
			m.keepVolumes(s.name, old)
		}
		if len(entry) > 1 {
			list.Items = append(list.Items, entry)
		}
	}
	return list, len(list.Items) > 0
}

// keepVolumes says where volumes are not what the plan would give a new etcd.
// They are left: what a cloud does to a disk that is there, and when, is for
// whoever runs it to choose.
func (m *merger) keepVolumes(name string, old map[string]any) {
	want := volume(m.plan, m.wanted)
	for _, member := range mappings(old, "etcdMembers") {
		size, _ := member["volumeSize"].(float64)
		iops, _ := member["volumeIops"].(float64)
		if int(size) >= want.VolumeSize && int(iops) >= want.VolumeIops {
			continue
		}
		text := fmt.Sprintf("%d GB", want.VolumeSize)
		if want.VolumeType != "" {
			text = fmt.Sprintf("%s of %d GB", want.VolumeType, want.VolumeSize)
		}
		if want.VolumeIops > 0 {
			text += fmt.Sprintf(" and %d IOPS", want.VolumeIops)
		}
		m.say(keptVolume(m.plan.Target.Cloud, name, text))
		return
	}
}

// keptVolume says how a volume that stays can be changed: kOps asks AWS alone
// to change one in place (awstasks/ebsvolume.go), and on other clouds its
// update ends with an error.
func keptVolume(cloud, name, want string) finding.Finding {
	f := finding.Finding{
		Code: "kops-volume-kept", Severity: finding.Info, Path: "spec.etcdClusters",
		Message: fmt.Sprintf("the volumes of %s stay as they are; a new etcd would get %s", name, want),
		Fix:     "where the disk is what limits etcd, replace the members one at a time: kOps does not change a disk that is there on this cloud",
		Ref:     "kubernetes/kops#9381",
	}
	if cloud == "aws" {
		f.Fix = "where the disk is what limits etcd, change it in the documents: AWS changes it in place, and etcd gets the room when its machine is replaced"
		f.Ref = "kubernetes/kops#11365"
	}
	return f
}

// env is the shard's environment, without a quota that would be smaller than the
// one in force: below the size of its data etcd would refuse every write.
func (m *merger) env(s shard, old map[string]any) map[string]string {
	env := s.env()
	for _, v := range mappings(sub(old, "manager"), "env") {
		if str(v, "name") != quotaVariable {
			continue
		}
		if n, err := strconv.ParseInt(str(v, "value"), 10, 64); err == nil && n > s.quotaBytes {
			delete(env, quotaVariable)
			m.say(finding.Finding{
				Code: "kops-quota-kept", Severity: finding.Info, Path: "spec.etcdClusters",
				Message: fmt.Sprintf("the quota of %s stays at %d bytes, more than the plan's %d", s.name, n, s.quotaBytes),
			})
		}
	}
	return env
}

// join gives a new shard a member in each of main's instance groups, which kOps
// wants, on volumes like main's where those are chosen, and main's etcd version,
// which must be the same for all.
func (m *merger) join(entry, main map[string]any) {
	fast := volume(m.plan, m.wanted)
	members := yamltext.Keyed{Key: "name"}
	for _, old := range mappings(main, "etcdMembers") {
		member := map[string]any{}
		for name, value := range old {
			if n, ok := value.(float64); ok {
				value = int64(n)
			}
			member[name] = value
		}
		if _, chosen := old["volumeType"]; !chosen {
			for name, value := range map[string]any{
				"volumeIops": fast.VolumeIops, "volumeSize": fast.VolumeSize, "volumeThroughput": fast.VolumeThroughput, "volumeType": fast.VolumeType,
			} {
				if value != 0 && value != "" {
					member[name] = yamltext.Plain(value)
				}
			}
		}
		members.Items = append(members.Items, member)
	}
	entry["etcdMembers"] = members
	if version := str(main, "version"); version != "" {
		entry["version"] = version
	}
}

// ownOverrides are kOps' overrides that the user's own list must repeat, for it
// replaces kOps' whole list (kubernetes/kops upup/pkg/fi/loader/options_loader.go).
func (m *merger) ownOverrides() yamltext.Set {
	set := yamltext.Set{Separator: "#"}
	list := texts(sub(m.clusterSpec(), "kubeAPIServer"), "etcdServersOverrides")
	if len(list) == 0 {
		return set
	}
	kept := map[string]bool{}
	for _, e := range mappings(m.clusterSpec(), "etcdClusters") {
		kept[str(e, "name")] = true
	}
	for _, s := range m.wanted.shards {
		kept[s.name] = true
	}
	for _, o := range []struct{ shard, resource, server string }{
		{"events", "/events", "https://127.0.0.1:4002"},
		{"leases", "coordination.k8s.io/leases", "https://127.0.0.1:4004"},
	} {
		routed := slices.ContainsFunc(list, func(have string) bool { return strings.HasPrefix(have, o.resource+"#") })
		if kept[o.shard] && !routed {
			set.Items = append(set.Items, o.resource+"#"+o.server)
		}
	}
	return set
}
