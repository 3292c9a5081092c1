package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// Validate finds what is wrong, or doubtful, in a profile's meaning: what a
// schema cannot say because it needs arithmetic over several fields or
// knowledge of versions. A profile built in Go, without the schema, may be
// given too. The findings have paths and no file; they come in the order of
// the profile's fields. What only rendered files need is a warning.
func Validate(p *Profile) []finding.Finding { return validate(p, false) }

// ValidateToRender is Validate where files are to be rendered: what they need
// is an error.
func ValidateToRender(p *Profile) []finding.Finding { return validate(p, true) }

func validate(p *Profile, rendering bool) []finding.Finding {
	v := &validator{Profile: p, rendering: rendering}
	v.versions()
	v.liveness()
	v.nodeLoad()
	v.churn()
	v.state()
	v.hosts()
	v.endpoints()
	v.etcd()
	v.network()
	return v.found
}

type validator struct {
	*Profile
	rendering bool
	found     []finding.Finding
}

// err adds an error, warn a warning, info a remark; the code is in codes.go
// with its meaning.
func (v *validator) err(code, path, msg, fix, ref string) {
	v.add(finding.Error, code, path, msg, fix, ref)
}

func (v *validator) warn(code, path, msg, fix, ref string) {
	v.add(finding.Warning, code, path, msg, fix, ref)
}

// toRender adds what stands in the way of rendering, and not of estimating.
func (v *validator) toRender(code, path, msg, fix, ref string) {
	severity := finding.Warning
	if v.rendering {
		severity = finding.Error
	}
	v.add(severity, code, path, msg, fix, ref)
}

func (v *validator) info(code, path, msg, fix, ref string) {
	v.add(finding.Info, code, path, msg, fix, ref)
}

func (v *validator) add(s finding.Severity, code, path, msg, fix, ref string) {
	v.found = append(v.found, finding.Finding{Code: code, Severity: s, Path: path, Message: msg, Fix: fix, Ref: ref})
}

// clouds are those of #KopsPlatform.
var clouds = []string{"aws", "gce", "azure", "digitalocean", "hetzner", "openstack", "scaleway"}

// versions checks that the Kubernetes version is known and, on kOps, that the
// kOps release installs it.
func (v *validator) versions() {
	kube, err := target.ParseVersion(v.Kubernetes)
	if err == nil {
		_, err = target.Resolve(kube)
	}
	if err != nil {
		v.err(CodeKubernetesUnsupported, "kubernetes", err.Error(), "", "")
	}
	// The schema refuses these in a file; an Override or a profile built in Go
	// has not met it.
	if !slices.Contains(target.Platforms, target.Platform(v.Platform.Kind)) {
		v.err(CodeNotOneOf, "platform.kind", fmt.Sprintf("want kubeadm, kops, kind or staticpod; got %q", v.Platform.Kind), "", "")
		return
	}
	k := v.Platform.Kops
	if k != nil && k.Cloud != "" && !slices.Contains(clouds, k.Cloud) {
		v.err(CodeNotOneOf, "platform.kops.cloud", fmt.Sprintf("want one of %s; got %q", strings.Join(clouds, ", "), k.Cloud), "", "")
	}
	switch {
	case v.Platform.Kind != string(target.Kops):
		if k != nil {
			v.warn(CodeKopsUnused, "platform.kops", fmt.Sprintf("kOps settings have no effect on platform kind %q", v.Platform.Kind),
				`set platform.kind to "kops", or leave platform.kops out`, "")
		}
		return
	case k == nil:
		v.err(CodeKopsMissing, "platform.kops", `platform kind "kops" needs a kOps version and a cloud`, "add version and cloud", "")
		return
	}
	kops, kopsErr := target.ParseVersion(k.Version)
	if kopsErr != nil {
		v.err(CodeKopsVersion, "platform.kops.version", kopsErr.Error(), "", "")
	}
	if err != nil || kopsErr != nil {
		return
	}
	const policy = "kOps compatibility policy: a release installs Kubernetes of its own minor and the two before"
	switch apart := kops.Minor - kube.Minor; {
	case apart < 0:
		fix := fmt.Sprintf("use kOps %s or later", kube.Line())
		if kops.Minor >= target.MinKubernetes {
			fix += ", or Kubernetes " + kops.Line()
		}
		v.err(CodeKopsTooOld, "platform.kops.version", fmt.Sprintf("kOps %s does not install Kubernetes %s: it is older", kops, kube), fix, policy)
	case apart > 2:
		v.warn(CodeKopsTooNew, "platform.kops.version", fmt.Sprintf("kOps %s no longer supports Kubernetes %s", kops, kube),
			fmt.Sprintf("use Kubernetes 1.%d or later", kops.Minor-2), policy)
	}
}
