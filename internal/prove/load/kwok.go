package load

import (
	_ "embed" // the stages
	"strconv"
	"time"
)

// kwokStages make a node Ready and report its status every five minutes, as a
// kubelet does; Leases kwok renews by itself. There are none for Pods: the load
// writes their status.
//
//go:embed kwok-stages.yaml
var kwokStages []byte

// KwokStages is a file for kwok's --config, for nodes of Nodes renewed by Kwok.
func KwokStages() []byte { return append([]byte(nil), kwokStages...) }

// KwokArguments are kwok's, for the nodes that a label selector picks, and no
// others: it would take over real ones.
func KwokArguments(stages, selector string, lease time.Duration) []string {
	return []string{
		"--config=" + stages,
		"--manage-all-nodes=false",
		"--manage-nodes-with-label-selector=" + selector,
		"--node-lease-duration-seconds=" + strconv.Itoa(int(orDefault(lease, 40*time.Second).Seconds())),
	}
}

// Selector picks the nodes of this load.
func (n *Nodes) Selector() string { return n.label() }
