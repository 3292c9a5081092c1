package controlplane

import (
	"testing"

	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
)

// A tier's keys are root's alone (pki.sh has umask 077), and its image may name
// any user: the pod that mounts them says that it is root.
func TestTierReadsItsKeys(t *testing.T) {
	p := &plan.Plan{Stores: []plan.Store{{Name: "tier", ClientPort: 2389, Members: []string{"cp-1"}}}}
	p.ControlPlane.Hosts = []profile.Host{{Name: "cp-1", Address: "10.0.0.11"}}
	pod, err := AggregatedPod(p, plan.AggregatedTier{Name: "tier", Server: "apiextensions-apiserver", Store: "tier", Form: plan.StaticForm}, p.ControlPlane.Hosts[0])
	if err != nil {
		t.Fatal(err)
	}
	s := pod.Spec.SecurityContext
	if s.RunAsUser == nil || *s.RunAsUser != 0 || s.RunAsGroup == nil || *s.RunAsGroup != 0 {
		t.Errorf("the pod runs as %v:%v", s.RunAsUser, s.RunAsGroup)
	}
}
