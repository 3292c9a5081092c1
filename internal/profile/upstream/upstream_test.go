// Package upstream holds what a profile says about Kubernetes against
// Kubernetes' own code. It is apart from package profile to keep the build of
// that one's tests, and above all of its fuzz targets, small.
package upstream

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletconfig "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam/cidrset"
	kubeletdefaults "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/profile"
)

// stock is a profile of one node with every default.
func stock(t *testing.T) *profile.Profile {
	t.Helper()
	got, found, err := profile.Load(context.Background(), profile.Options{Path: "-", Stdin: strings.NewReader("name: x\nnodes: {count: 1}\n")})
	if err != nil || len(got) != 1 || len(found) > 0 {
		t.Fatal(err, found)
	}
	return got[0].Profile
}

func has(p *profile.Profile, code string) bool {
	return slices.ContainsFunc(profile.Validate(p), func(f finding.Finding) bool { return f.Code == code })
}

// TestKubeletDefaults holds the node axis against the kubelet's own defaulting.
func TestKubeletDefaults(t *testing.T) {
	p := stock(t)
	lease := p.Nodes.LeaseDurationSeconds
	for _, test := range []struct{ update, report int }{{0, 0}, {10, 0}, {60, 0}, {10, 300}, {0, 120}} {
		kubelet := &kubeletconfig.KubeletConfiguration{
			NodeStatusUpdateFrequency: seconds(test.update), NodeStatusReportFrequency: seconds(test.report),
		}
		kubeletdefaults.SetDefaults_KubeletConfiguration(kubelet)
		n := &p.Nodes
		n.StatusUpdateSeconds, n.StatusReportSeconds = test.update, test.report
		if want := kubelet.NodeStatusReportFrequency.Duration; time.Duration(n.ReportSeconds())*time.Second != want {
			t.Errorf("update %d, report %d: %d s, kubelet %v", test.update, test.report, n.ReportSeconds(), want)
		}
		warned := has(p, profile.CodeReportFollowsUpdate)
		if follows := test.report == 0 && kubelet.NodeStatusReportFrequency.Duration != 5*time.Minute; warned != follows {
			t.Errorf("update %d, report %d: warned %v", test.update, test.report, warned)
		}
		if int(kubelet.NodeLeaseDurationSeconds) != lease {
			t.Errorf("lease %d, kubelet %d", lease, kubelet.NodeLeaseDurationSeconds)
		}
	}
}

func seconds(n int) metav1.Duration { return metav1.Duration{Duration: time.Duration(n) * time.Second} }

// TestNodeRangesUpstream lets kube-controller-manager's own allocator hand out
// node ranges: Validate must find room for as many nodes as it does.
func TestNodeRangesUpstream(t *testing.T) {
	for _, test := range []struct {
		pods     string
		services string
		mask     int
	}{
		{"10.128.0.0/20", "10.96.0.0/12", 24}, {"10.128.0.0/24", "10.96.0.0/12", 24}, {"10.128.0.0/16", "10.96.0.0/12", 26},
		{"fd01::/56", "fd02::/112", 64}, {"fd01::/47", "fd02::/112", 64}, {"fd01::/48", "fd02::/112", 64},
	} {
		_, pods, err := net.ParseCIDR(test.pods)
		if err != nil {
			t.Fatal(err)
		}
		set, err := cidrset.NewCIDRSet(pods, test.mask)
		p := stock(t)
		p.Nodes.PodsPerNode = 10
		p.ControlPlane.Network = profile.Network{PodCIDR: test.pods, ServiceCIDR: test.services, NodeMaskSize: test.mask}
		if err != nil {
			if !errors.Is(err, cidrset.ErrCIDRSetSubNetTooBig) {
				t.Fatal(err)
			}
			if !has(p, profile.CodeNodeMask) {
				t.Errorf("%s /%d: upstream refuses it: %v", test.pods, test.mask, err)
			}
			continue
		}
		room := 0
		for ; room < 2000; room++ {
			if _, err := set.AllocateNext(); err != nil {
				break
			}
		}
		p.Nodes.Count = room
		if has(p, profile.CodePodRangeTooSmall) || has(p, profile.CodeNodeMask) {
			t.Errorf("%s /%d: upstream has room for %d nodes\n%v", test.pods, test.mask, room, profile.Validate(p))
		}
		if p.Nodes.Count++; room < 2000 && !has(p, profile.CodePodRangeTooSmall) {
			t.Errorf("%s /%d: upstream has room for no more than %d nodes", test.pods, test.mask, room)
		}
	}
}
