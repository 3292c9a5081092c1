package kops

import (
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
)

// manifests is where kOps makes every kubelet look for static pods.
const manifests = "/etc/kubernetes/manifests"

// ownManifests are the static pods that kOps writes itself.
var ownManifests = []string{
	"kube-apiserver.manifest", "kube-controller-manager.manifest", "kube-scheduler.manifest", "kube-proxy.manifest",
	"kube-apiserver-healthcheck.manifest", "etcd-main.manifest", "etcd-events.manifest", "etcd-leases.manifest", "etcd-cilium.manifest",
	"etcd.manifest",
}

// fileRules are about fileAssets, hooks and kernel parameters, which a Cluster
// and an InstanceGroup both have.
func (c *checker) fileRules(d *document, spec object) {
	for i, asset := range spec.objects("fileAssets") {
		c.fileAsset(d, indexed("spec.fileAssets", i), asset)
	}
	for i, hook := range spec.objects("hooks") {
		at := indexed("spec.hooks", i)
		if !hook.isTrue("disabled") && !hook.has("execContainer") && hook.str("manifest") == "" {
			c.add(d.at(at, finding.Finding{
				Code: "kops-hook", Severity: finding.Error, Message: "a hook needs manifest or execContainer",
			}))
		}
		if hook.has("execContainer") && hook.object("execContainer").str("image") == "" {
			c.add(d.at(at+".execContainer", finding.Finding{
				Code: "kops-hook", Severity: finding.Error, Message: "execContainer needs an image",
			}))
		}
	}
	for i, p := range spec.strings("sysctlParameters") {
		if p != "" && !strings.Contains(p, "=") {
			c.add(d.at(indexed("spec.sysctlParameters", i), finding.Finding{
				Code: "kops-sysctl", Severity: finding.Error, Message: fmt.Sprintf("%q has no \"=\"", p),
			}))
		}
	}
}

func (c *checker) fileAsset(d *document, at string, asset object) {
	add := func(field string, f finding.Finding) {
		f.Code, f.Severity = "kops-file-asset", finding.Error
		if field != "" {
			field = "." + field
		}
		c.add(d.at(at+field, f))
	}
	for _, field := range []string{"name", "content"} {
		if asset.str(field) == "" {
			add("", finding.Finding{Message: "a file asset needs " + field})
		}
	}
	if content := asset.str("content"); asset.isTrue("isBase64") && content != "" {
		if _, err := base64.RawStdEncoding.DecodeString(content); err != nil {
			f := finding.Finding{Message: "kOps cannot decode the content: " + err.Error()}
			if _, err := base64.StdEncoding.DecodeString(content); err == nil {
				f.Message = "kOps decodes base64 without padding, and refuses the \"=\" at the end"
				f.Fix = "write " + strconv.Quote(short(strings.TrimRight(strings.TrimSpace(content), "=")))
				f.Ref = "kubernetes/kops nodeup/pkg/model/file_assets.go: base64.RawStdEncoding"
			}
			add("content", f)
		}
	}
	if mode := asset.str("mode"); mode != "" {
		if n, err := strconv.ParseUint(mode, 8, 32); err != nil || n > 0o7777 {
			add("mode", finding.Finding{Message: fmt.Sprintf("%q is no octal file mode", mode), Fix: `"0440"`})
		}
	}
	if p := path.Clean(asset.str("path")); path.Dir(p) == manifests && slices.Contains(ownManifests, path.Base(p)) {
		add("path", finding.Finding{
			Message: fmt.Sprintf("kOps writes %s itself: one of the two would overwrite the other", p),
			Fix:     "give the static pod's file another name",
		})
	}
}

// short cuts a long value for a message.
func short(s string) string {
	if len(s) > 32 {
		return s[:29] + "..."
	}
	return s
}
