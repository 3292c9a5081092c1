package cluster

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/kubeseams/seams/internal/prove/load"
)

// The names of what a run makes. They are fixed: two runs at a time would
// measure each other, and the second finds the names taken.
const (
	// Namespace holds the Job, kwok and how far the parts are; those of the
	// parts' objects are called after it.
	Namespace = "seams-prove"
	// RunLabel is on everything that a run makes, with a value of its own.
	RunLabel = load.Group + "/run"

	loadName, kwokName, partName = "seams-prove-load", "seams-prove-kwok", "seams-prove-part"
	// specMap holds the load, controlMap what parts are to do next.
	specMap, controlMap = "load", "control"
	specFile            = "load.json"
	specMount           = "/etc/seams"
	stagesMap           = "kwok-stages"
	stagesFile          = "stages.yaml"
	stagesMount         = "/etc/kwok"
	nodePrefix          = "seams-hollow"
	leaseNamespace      = "kube-node-lease"
)

func partNamespace(i int) string { return fmt.Sprintf("%s-%d", Namespace, i) }
func partMap(i int) string       { return fmt.Sprintf("part-%d", i) }
func partNodes(i int) string     { return fmt.Sprintf("%s-%d", nodePrefix, i) }

// newRun names a run: what an earlier or another one made has another name.
func newRun() string {
	b := make([]byte, 5)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func selectorOf(run string) string { return RunLabel + "=" + run }

// isHollow reports whether a node is called as hollow ones are.
func isHollow(node string) bool { return strings.HasPrefix(node, nodePrefix+"-") }
