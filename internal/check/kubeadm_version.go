package check

import (
	"fmt"
	"strings"

	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// kubeadmVersion judges the API version, and reports whether the document can
// be judged further with the codec of this program's kubeadm.
func (c *checker) kubeadmVersion(f *kubeadmFile, d *document) bool {
	switch d.gvk().Version {
	case "v1beta4":
		if c.target.KubeadmReadsV1Beta4() {
			return true
		}
		c.at(d, "apiVersion", finding.Finding{
			Code: "kubeadm-newer-api", Severity: finding.Error,
			Message: fmt.Sprintf("kubeadm %s does not read %s, which is there from 1.31", c.version().Line(), d.apiVersion),
			Fix:     "write kubeadm.k8s.io/v1beta3, with arguments as mappings",
		})
		return true
	case "v1":
		if c.experimental {
			return true
		}
		c.at(d, "apiVersion", finding.Finding{
			Code: "kubeadm-experimental-api", Severity: finding.Error,
			Message: "kubeadm.k8s.io/v1 is experimental, and kubeadm refuses it without --allow-experimental-api",
			Fix:     "write kubeadm.k8s.io/v1beta4", Ref: "kubernetes cmd/kubeadm/app/util/config/common.go, validateSupportedVersion",
		})
		return false
	case "v1beta3":
		if c.target.KubeadmServesV1Beta3() {
			c.at(d, "apiVersion", finding.Finding{
				Code: "kubeadm-old-api", Severity: finding.Warning,
				Message: "v1beta3 is deprecated, and gone in kubeadm 1.37; it is judged here as what kubeadm would migrate it to",
				Fix:     "kubeadm config migrate --old-config OLD --new-config NEW, with kubeadm 1.31 to 1.36",
			})
			return c.convertV1Beta3(f, d)
		}
	case "v1beta2":
		if c.target.KubeadmReadV1Beta2() {
			c.at(d, "apiVersion", finding.Finding{
				Code: "kubeadm-old-api", Severity: finding.Warning,
				Message: fmt.Sprintf("kubeadm %s reads v1beta2, which went with 1.27; its fields are not judged here", c.version().Line()),
				Fix:     "kubeadm config migrate --old-config OLD --new-config NEW, with kubeadm 1.22 to 1.26, and again for v1beta4 with 1.31 to 1.36",
			})
			return false
		}
	}
	c.at(d, "apiVersion", finding.Finding{
		Code: "kubeadm-old-api", Severity: finding.Error,
		Message: fmt.Sprintf("kubeadm %s does not read %s", c.version().Line(), d.apiVersion),
		Fix:     "kubeadm config migrate --old-config OLD --new-config NEW, with kubeadm 1.31 to 1.36, or write kubeadm.k8s.io/v1beta4",
		Ref:     "kubernetes cmd/kubeadm/app/util/config/common.go, validateSupportedVersion",
	})
	return false
}

// kubernetesVersion judges the version to install. A label such as stable-1,
// which is also the default, is looked up on the network by kubeadm.
func (c *checker) kubernetesVersion(f *kubeadmFile, config *kubeadmapi.ClusterConfiguration) {
	if f.cluster == nil || f.partial {
		return
	}
	text := config.KubernetesVersion
	v, err := target.ParseVersion(text)
	want := "v" + c.version().String()
	switch {
	case strings.HasPrefix(text, "stable") || strings.HasPrefix(text, "latest") || strings.HasPrefix(text, "ci/"):
		c.at(f.cluster, "kubernetesVersion", finding.Finding{
			Code: "kubeadm-version-label", Severity: finding.Warning,
			Message: fmt.Sprintf("the version is %q, which kubeadm looks up on the network and may be another tomorrow", text),
			Fix:     "write kubernetesVersion: " + want,
		})
	case err != nil || v.Patch < 0:
		c.at(f.cluster, "kubernetesVersion", finding.Finding{
			Code: "kubeadm-invalid", Severity: finding.Error,
			Message: fmt.Sprintf("%q is not a version", text), Fix: "write kubernetesVersion: " + want,
		})
	case v.Line() != c.version().Line():
		c.at(f.cluster, "kubernetesVersion", finding.Finding{
			Code: "kubeadm-version-differs", Severity: finding.Error,
			Message: fmt.Sprintf("the file installs Kubernetes %s, and is judged for %s", v.Line(), c.version().Line()),
			Fix:     "write kubernetesVersion: " + want,
		})
	}
}
