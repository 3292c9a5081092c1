package profile

import "github.com/kubeseams/seams/internal/target"

// Target resolves what the profile is rendered for. Errors: a version that is not supported.
func (p *Profile) Target() (target.Target, error) {
	v, err := target.ParseVersion(p.Kubernetes)
	if err != nil {
		return target.Target{}, err
	}
	if v, err = target.Resolve(v); err != nil {
		return target.Target{}, err
	}
	t := target.Target{Kubernetes: v, Platform: target.Platform(p.Platform.Kind)}
	if k := p.Platform.Kops; k != nil {
		if t.Kops, err = target.ParseVersion(k.Version); err != nil {
			return target.Target{}, err
		}
		t.Cloud, t.DNSNone = k.Cloud, k.DNSNone
	}
	return t, nil
}
