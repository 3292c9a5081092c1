package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// confFile is where kubelet's runtime looks for a network.
const confFile = "/etc/cni/net.d/10-kind.conflist"

// wire gives each node a point-to-point link to every pod, addresses out of the
// node's own range, and routes to the ranges of the other nodes: what kindnetd
// does, which no module and no Debian package has. An image with a network of
// its own is left to it.
func (c *Cluster) wire(ctx context.Context) error {
	if !c.options.ownImage() {
		return nil
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return err
	}
	ranges, addresses := map[string]string{}, map[string]string{}
	for _, node := range nodes {
		err := Until(ctx, time.Minute, func(ctx context.Context) error {
			out, err := c.Kubectl(ctx, "get", "node", node, "-o", `jsonpath={.spec.podCIDR} {.status.addresses[?(@.type=="InternalIP")].address}`)
			fields := strings.Fields(out)
			if err == nil && len(fields) != 2 {
				err = fmt.Errorf("node %s has no pod range and address yet: %q", node, out)
			}
			if err == nil {
				ranges[node], addresses[node] = fields[0], fields[1]
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, node := range nodes {
		conf, err := conflist(ranges[node])
		if err != nil {
			return err
		}
		if _, err := run(ctx, strings.NewReader(conf), "docker", "exec", "-i", node, "cp", "/dev/stdin", confFile); err != nil {
			return err
		}
		for _, other := range nodes {
			if other == node {
				continue
			}
			if _, err := c.Exec(ctx, node, "ip", "route", "replace", ranges[other], "via", addresses[other]); err != nil {
				return err
			}
		}
	}
	return nil
}

// conflist is a CNI configuration for pods out of one range.
func conflist(podRange string) (string, error) {
	type object = map[string]any
	data, err := json.Marshal(object{
		"cniVersion": "1.0.0",
		"name":       "kind",
		"plugins": []object{{
			"type":   "ptp",
			"ipMasq": false,
			"mtu":    1500,
			"ipam": object{
				"type":    "host-local",
				"dataDir": "/run/cni-ipam-state",
				"routes":  []object{{"dst": "0.0.0.0/0"}},
				"ranges":  [][]object{{{"subnet": podRange}}},
			},
		}, {
			"type":         "portmap",
			"capabilities": object{"portMappings": true},
		}},
	})
	if err != nil {
		return "", fmt.Errorf("write the network of a node: %w", err)
	}
	return string(data), nil
}
