package prove

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// kwokPort is where kwok tells how it is: beyond the ports of a control plane.
const kwokPort = 10247

// startKwok runs kwok beside a control plane, for the hollow nodes of its load,
// through one apiserver.
func startKwok(ctx context.Context, control *rig.Rig, through *rest.Config) error {
	stages := filepath.Join(control.Dir(), "kwok-stages.yaml")
	if err := os.WriteFile(stages, load.KwokStages(), 0o600); err != nil {
		return err
	}
	at := fmt.Sprintf("%s:%d", control.Spare(), kwokPort)
	argv := append([]string{"kwok", "--kubeconfig=" + control.Kubeconfig(), "--master=" + through.Host, "--server-address=" + at},
		load.KwokArguments(stages, (&load.Nodes{}).Selector(), 0)...)
	p, err := control.Extra(ctx, "kwok", argv)
	if err != nil {
		return err
	}
	p.ReadyURL = "http://" + at + "/healthz"
	return p.Ready(ctx)
}
