package measure

import (
	"context"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

type meta struct {
	Metadata struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
}

// hosts are the machines of the control plane.
func (c *cluster) hosts(ctx context.Context) {
	type node struct {
		meta
		Status struct {
			Capacity  map[string]string `json:"capacity"`
			Addresses []struct {
				Type    string `json:"type"`
				Address string `json:"address"`
			} `json:"addresses"`
		} `json:"status"`
	}
	err := pages(ctx, c, "/api/v1/nodes", map[string]string{"labelSelector": "node-role.kubernetes.io/control-plane"}, func(items []node) bool {
		for _, n := range items {
			h := Host{Name: n.Metadata.Name}
			for _, a := range n.Status.Addresses {
				if a.Type == "InternalIP" && h.Address == "" {
					h.Address = a.Address
				}
			}
			if q, err := resource.ParseQuantity(n.Status.Capacity["cpu"]); err == nil {
				h.CPU = int(q.Value())
			}
			if q, err := resource.ParseQuantity(n.Status.Capacity["memory"]); err == nil {
				h.MemoryGiB = float64(q.Value()) / (1 << 30)
			}
			for label := range n.Metadata.Labels {
				c.seen.Kops = c.seen.Kops || strings.HasPrefix(label, "kops.k8s.io/")
			}
			c.seen.Hosts = append(c.seen.Hosts, h)
		}
		return true
	})
	if err != nil {
		c.seen.refuse("the machines of the control plane", err)
	}
}

type lease struct {
	meta
	Spec struct {
		LeaseDurationSeconds int       `json:"leaseDurationSeconds"`
		RenewTime            time.Time `json:"renewTime"`
	} `json:"spec"`
}

// fresh is how old the last renewal of something that runs can be.
const fresh = time.Minute

const leasesPath = "/apis/coordination.k8s.io/v1"

// leases tells nodes', apiservers' and elections' apart. One page of nodes' is
// enough, since a cluster's kubelets are set alike.
func (c *cluster) leases(ctx context.Context) {
	durations := map[int]int{}
	err := pages(ctx, c, leasesPath+"/namespaces/kube-node-lease/leases", nil, func(items []lease) bool {
		for _, l := range items {
			durations[l.Spec.LeaseDurationSeconds]++
			c.seen.Leases.NodeCount++
		}
		return false
	})
	if err != nil {
		c.seen.refuse("the leases of nodes", err)
	}
	for d, n := range durations {
		if best := durations[c.seen.Leases.NodeSeconds]; n > best || n == best && d < c.seen.Leases.NodeSeconds {
			c.seen.Leases.NodeSeconds = d
		}
	}
	elections := 0
	err = pages(ctx, c, leasesPath+"/leases", map[string]string{"fieldSelector": "metadata.namespace!=kube-node-lease"}, func(items []lease) bool {
		for _, l := range items {
			switch {
			case time.Since(l.Spec.RenewTime) > fresh+time.Duration(l.Spec.LeaseDurationSeconds)*time.Second:
			case l.Metadata.Labels["apiserver.kubernetes.io/identity"] == "kube-apiserver":
				c.seen.Alive++
			default:
				elections++
			}
		}
		return true
	})
	if err != nil {
		c.seen.refuse("the leases of elections", err)
		return
	}
	c.seen.Leases.Elections = elections
}

// flags reads what the static pods of the control plane are started with.
func (c *cluster) flags(ctx context.Context) {
	type pod struct {
		meta
		Spec struct {
			Containers []struct {
				Command []string `json:"command"`
				Args    []string `json:"args"`
			} `json:"containers"`
		} `json:"spec"`
	}
	err := pages(ctx, c, "/api/v1/namespaces/kube-system/pods", map[string]string{"labelSelector": "tier=control-plane"}, func(items []pod) bool {
		for _, p := range items {
			for _, container := range p.Spec.Containers {
				for _, arg := range append(container.Command, container.Args...) {
					c.flag(p.Metadata.Labels["component"], arg)
				}
			}
		}
		return true
	})
	if err != nil {
		c.seen.refuse("the flags of the control plane", err)
	}
}

func (c *cluster) flag(component, arg string) {
	name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	switch component + " " + name {
	case "kube-apiserver event-ttl":
		if d, err := time.ParseDuration(value); err == nil {
			c.seen.EventTTLSeconds = int(d.Seconds())
		}
	case "kube-controller-manager node-monitor-grace-period":
		if d, err := time.ParseDuration(value); err == nil {
			c.seen.GraceSeconds = int(d.Seconds())
		}
	case "etcd quota-backend-bytes":
		if v, err := strconv.ParseInt(value, 0, 64); err == nil {
			c.seen.Etcd.QuotaBytes = float64(v)
		}
	}
}
