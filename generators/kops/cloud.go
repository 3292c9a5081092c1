package kops

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/kubeseams/seams/internal/plan"
)

// cloud is what a specification needs to know of a provider when nobody says
// more: places that stand for the user's own.
type cloud struct {
	region string
	zones  []string
	// networkCIDR says that the network's range is part of the specification.
	networkCIDR bool
	// regional says that one subnet spans the region, and that instance groups
	// name their zones.
	regional bool
	// subnetRegion says that a subnet names its region.
	subnetRegion bool
}

var clouds = map[string]cloud{
	"aws":          {region: "us-east-1", zones: []string{"us-east-1a", "us-east-1b", "us-east-1c"}, networkCIDR: true},
	"azure":        {region: "eastus", zones: []string{"eastus-1", "eastus-2", "eastus-3"}, networkCIDR: true, regional: true, subnetRegion: true},
	"digitalocean": {region: "nyc3", zones: []string{"nyc3"}, subnetRegion: true},
	"gce":          {region: "us-central1", zones: []string{"us-central1-a", "us-central1-b", "us-central1-c"}, regional: true, subnetRegion: true},
	"hetzner":      {region: "fsn1", zones: []string{"fsn1"}, networkCIDR: true},
	"openstack":    {region: "RegionOne", zones: []string{"nova"}, subnetRegion: true},
	"scaleway":     {region: "fr-par", zones: []string{"fr-par-1", "fr-par-2", "fr-par-3"}, subnetRegion: true},
}

// subnets are the cluster's, by the cloud's way of dividing a network.
func (c cloud) subnets() []subnet {
	region := ""
	if c.subnetRegion {
		region = c.region
	}
	if c.regional {
		return []subnet{{Name: c.region, Region: region, Type: "Public"}}
	}
	var list []subnet
	for _, z := range c.zones {
		list = append(list, subnet{Name: z, Region: region, Type: "Public", Zone: z})
	}
	return list
}

// place gives the subnets and zones of an instance group that stands in zones.
func (c cloud) place(zones ...string) (subnets, groupZones []string) {
	if c.regional {
		return []string{c.region}, zones
	}
	return zones, nil
}

// zone is the zone of the i-th machine: one after the other.
func (c cloud) zone(i int) string { return c.zones[i%len(c.zones)] }

// networks are the ranges of a new cluster: pods and services where the profile
// says, the network itself where it overlaps neither.
func (c cloud) networks(p *plan.Plan, s *clusterSpec) {
	n := p.ControlPlane.Network
	s.PodCIDR, s.ServiceClusterIPRange = n.PodCIDR, n.ServiceCIDR
	s.NonMasqueradeCIDR = "100.64.0.0/10"
	pods, err := netip.ParsePrefix(n.PodCIDR)
	if err == nil {
		s.NonMasqueradeCIDR = cover(pods, n.ServiceCIDR).String()
	}
	if !c.networkCIDR {
		return
	}
	taken := []string{s.NonMasqueradeCIDR, n.PodCIDR, n.ServiceCIDR}
	for _, candidate := range []string{"172.20.0.0/16", "10.0.0.0/16", "192.168.0.0/16"} {
		if free(candidate, taken) {
			s.NetworkCIDR = candidate
			return
		}
	}
	s.NetworkCIDR = "172.20.0.0/16"
}

// cover is the smallest range with both the pods and the services in it, or
// that of the pods alone when there is none: kOps wants pods within it.
func cover(pods netip.Prefix, services string) netip.Prefix {
	s, err := netip.ParsePrefix(services)
	if err != nil || s.Addr().Is4() != pods.Addr().Is4() {
		return pods.Masked()
	}
	for bits := min(pods.Bits(), s.Bits()); bits >= 8; bits-- {
		whole := netip.PrefixFrom(pods.Addr(), bits).Masked()
		if whole.Contains(s.Addr()) {
			return whole
		}
	}
	return pods.Masked()
}

func free(candidate string, taken []string) bool {
	c := netip.MustParsePrefix(candidate)
	return !slices.ContainsFunc(taken, func(t string) bool {
		p, err := netip.ParsePrefix(t)
		return err == nil && p.Overlaps(c)
	})
}

// fastVolumes reports whether etcd wants more than kOps' own volume of 20 GB:
// because the disks are said to be fast, the etcd has a shard or more than the
// 8 GiB that fit on that volume with their history, or the cluster is of the
// size of kOps' scale tests.
func fastVolumes(p *plan.Plan, w wanted) bool {
	if len(w.shards) > 1 || p.Nodes >= 5000 || p.ControlPlane.Disk == "nvme" || p.ControlPlane.Disk == "ssd" {
		return true
	}
	return slices.ContainsFunc(w.shards, func(s shard) bool { return s.quotaBytes > 8<<30 })
}

// volume is an etcd member's volume: the values of kOps' scale tests, or
// nothing, which leaves kOps' own.
func volume(p *plan.Plan, w wanted) member {
	t := p.Target
	if !fastVolumes(p, w) {
		return member{}
	}
	switch {
	case t.Cloud == "aws" && t.KopsTestsFastEtcdVolumes():
		return member{VolumeType: "io2", VolumeIops: 10000, VolumeSize: 120}
	case t.Cloud == "aws":
		return member{VolumeType: "io1", VolumeIops: 6000, VolumeSize: 120}
	case t.Cloud == "gce" && t.KopsTestsFastEtcdVolumes():
		return member{VolumeType: "hyperdisk-balanced", VolumeIops: 10000, VolumeThroughput: 1000, VolumeSize: 120}
	}
	return member{VolumeSize: 120}
}

// family is a series of machine types with so much memory for each processor.
type family struct {
	gibPerCPU float64
	sizes     []int
	name      func(cpus int) string
}

// families are the general machine types of a cloud, least memory first. AWS:
// the generation of kOps' scale test (c8i.24xlarge). GCE: c4 as in that test,
// which takes only hyperdisks, and n2 with other volumes.
func families(t string, hyperdisk bool) []family {
	aws := func(letter string, gib float64) family {
		return family{gib, []int{2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 384}, func(cpus int) string {
			size := map[int]string{2: "large", 4: "xlarge"}[cpus]
			if size == "" {
				size = fmt.Sprintf("%dxlarge", cpus/4)
			}
			return letter + "8i." + size
		}}
	}
	gce := func(prefix string, gib float64, sizes ...int) family {
		return family{gib, sizes, func(cpus int) string { return fmt.Sprintf("%s-%d", prefix, cpus) }}
	}
	switch {
	case t == "aws":
		return []family{aws("c", 2), aws("m", 4), aws("r", 8)}
	case t == "gce" && hyperdisk:
		sizes := []int{2, 4, 8, 16, 24, 32, 48, 96, 144, 192, 288}
		return []family{gce("c4-highcpu", 2, sizes...), gce("c4-standard", 3.75, sizes...), gce("c4-highmem", 7.75, sizes...)}
	case t == "gce":
		sizes := []int{2, 4, 8, 16, 32, 48, 64, 80, 96, 128}
		return []family{gce("n2-standard", 4, sizes...), gce("n2-highmem", 8, sizes...)}
	}
	return nil
}

// machineType is the smallest machine with the profile's processors and memory;
// "" leaves the choice to kOps.
func machineType(p *plan.Plan, hyperdisk bool) string {
	best, cpus, gib := "", 0, 0.0
	for _, f := range families(p.Target.Cloud, hyperdisk) {
		for _, n := range f.sizes {
			memory := float64(n) * f.gibPerCPU
			// A cloud's 4 GiB a processor are 3.75 on another: a tenth less is the same size.
			if n < p.ControlPlane.CPU || memory < 0.9*p.ControlPlane.MemoryGiB {
				continue
			}
			if best == "" || n < cpus || n == cpus && memory < gib {
				best, cpus, gib = f.name(n), n, memory
			}
			break
		}
	}
	return best
}
