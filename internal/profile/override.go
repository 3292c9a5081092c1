package profile

import (
	"cmp"
	"fmt"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// Override puts versions and platform in place of those of every profile that
// is loaded, as the flags of a command do. An empty field changes nothing.
type Override struct {
	// Platform is a kind of #Platform.
	Platform string
	// Kubernetes and KopsVersion are versions, Cloud a cloud of #KopsPlatform.
	Kubernetes, KopsVersion, Cloud string
}

// The kOps platform of a profile that was not written for kOps; #KopsPlatform
// has the same defaults, which a test compares.
const (
	defaultKopsVersion = "1.36.2"
	defaultCloud       = "aws"
)

// apply changes a profile that the schema accepted, before its meaning is
// judged. It says so where one value brings another with it.
func (o Override) apply(p *Profile) []finding.Finding {
	p.Platform.Kind = cmp.Or(o.Platform, p.Platform.Kind)
	p.Kubernetes = cmp.Or(o.Kubernetes, p.Kubernetes)
	if p.Platform.Kind != string(target.Kops) {
		if o.Platform != "" {
			p.Platform.Kops = nil // for another platform than the one asked for
		}
		return nil
	}
	if p.Platform.Kops == nil {
		p.Platform.Kops = &Kops{Version: defaultKopsVersion, Cloud: defaultCloud}
	}
	p.Platform.Kops.Version = cmp.Or(o.KopsVersion, p.Platform.Kops.Version)
	p.Platform.Kops.Cloud = cmp.Or(o.Cloud, p.Platform.Kops.Cloud)
	if o.Kubernetes != "" || o.Platform == "" && o.KopsVersion == "" {
		return nil
	}
	return lowerKubernetes(p)
}

// lowerKubernetes takes a profile to the newest minor that the kOps version
// installs: kOps installs none newer than itself.
func lowerKubernetes(p *Profile) []finding.Finding {
	kubernetes, err := target.ParseVersion(p.Kubernetes)
	if err != nil {
		return nil // Validate tells it
	}
	kops, err := target.ParseVersion(p.Platform.Kops.Version)
	if err != nil || kubernetes.Minor <= kops.Minor || kops.Minor < target.MinKubernetes {
		return nil
	}
	was := p.Kubernetes
	p.Kubernetes = kops.Line()
	return []finding.Finding{{
		Code: CodeKubernetesLowered, Severity: finding.Info, Path: "kubernetes",
		Message: fmt.Sprintf("Kubernetes %s is taken in place of %s: kOps %s installs nothing newer", p.Kubernetes, was, kops),
		Fix:     "give the version with --kubernetes, or a newer kOps with --kops-version",
	}}
}

// flagOf names the flag that a field's value came from, "" for the file's own.
func (o Override) flagOf(path string) string {
	switch {
	case path == "kubernetes" && o.Kubernetes != "":
		return "--kubernetes"
	case path == "platform.kops.version" && o.KopsVersion != "":
		return "--kops-version"
	case path == "platform.kops.cloud" && o.Cloud != "":
		return "--cloud"
	case (path == "platform.kind" || path == "platform.kops") && o.Platform != "":
		return "--target"
	}
	return ""
}
