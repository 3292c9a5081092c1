package estimate

import "github.com/kubeseams/seams/internal/profile"

// Stock is the layout a profile starts from: its apiservers, one etcd cluster, upstream's defaults.
func Stock(p *profile.Profile) Layout { return Layout{Apiservers: p.ControlPlane.Apiservers} }

// Compute estimates a profile on a layout.
func Compute(p *profile.Profile, l Layout) *Estimate { panic("estimate: not written yet") }

// WhatIfs estimates each single change to the layout.
func WhatIfs(p *profile.Profile, l Layout) []WhatIf { panic("estimate: not written yet") }
