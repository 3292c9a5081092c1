package check

import (
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	kubeadmscheme "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/scheme"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/validation"
	"k8s.io/kubernetes/cmd/kubeadm/app/constants"

	"github.com/kubeseams/seams/internal/finding"
)

const kubeadmGroup = "kubeadm.k8s.io"

// kubeadmFile is what one configuration file for kubeadm holds.
type kubeadmFile struct {
	name                         string
	cluster, init, join, upgrade *document
	clusterConfig                *kubeadmapi.ClusterConfiguration
	initConfig                   *kubeadmapi.InitConfiguration
	joinConfig                   *kubeadmapi.JoinConfiguration
	upgradeConfig                *kubeadmapi.UpgradeConfiguration
	// more are further documents of kind ClusterConfiguration, which kind's patches may have.
	more     []*kubeadmapi.ClusterConfiguration
	moreDocs []*document
	// mapping says that arguments are mappings, as they were until v1beta3.
	mapping bool
	// partial files are patches of a configuration that is written elsewhere.
	partial bool
}

// judgeKubeadmFile judges a file as kubeadm config validate does, but finds
// everything instead of stopping at the first fault, and looks nothing up on
// this machine or the network.
func (c *checker) judgeKubeadmFile(docs []*document) {
	f := &kubeadmFile{name: docs[0].file}
	kinds := map[string]bool{}
	for _, d := range docs {
		if kinds[d.kind] && d.kind != "" {
			c.at(d, "", finding.Finding{
				Code: "kubeadm-kind-twice", Severity: finding.Error,
				Message: fmt.Sprintf("%s stands twice in the file, which kubeadm refuses", d.kind),
				Fix:     "keep one",
			})
			continue
		}
		kinds[d.kind] = true
		if d.group() != kubeadmGroup {
			c.judgeDocument(d)
			continue
		}
		c.judgeKubeadmDocument(f, d)
	}
	c.validateInit(f)
	c.validateJoin(f)
	c.validateUpgrade(f)
	c.addCluster(f)
}

// judgeKubeadmDocument decodes one document of kubeadm's own kinds.
func (c *checker) judgeKubeadmDocument(f *kubeadmFile, d *document) {
	if !c.kubeadmVersion(f, d) {
		return
	}
	if !kubeadmscheme.Scheme.Recognizes(d.gvk()) {
		c.at(d, "kind", finding.Finding{
			Code: "unknown-kind", Severity: finding.Error,
			Message: fmt.Sprintf("kubeadm has no kind %q in %s", d.kind, d.apiVersion),
		})
		return
	}
	before := len(c.findings)
	if c.strict(d, kubeadmscheme.Scheme) == nil {
		return
	}
	switch d.kind {
	case constants.ClusterConfigurationKind:
		config := into[kubeadmapi.ClusterConfiguration](c, d, before)
		if f.cluster != nil && config != nil {
			f.more, f.moreDocs = append(f.more, config), append(f.moreDocs, d)
			return
		}
		f.cluster, f.clusterConfig = d, config
	case constants.InitConfigurationKind:
		f.init, f.initConfig = d, into[kubeadmapi.InitConfiguration](c, d, before)
	case constants.JoinConfigurationKind:
		f.join, f.joinConfig = d, into[kubeadmapi.JoinConfiguration](c, d, before)
	case constants.UpgradeConfigurationKind:
		f.upgrade, f.upgradeConfig = d, into[kubeadmapi.UpgradeConfiguration](c, d, before)
	}
}

// into decodes, defaults and converts a document to kubeadm's internal type.
// When the strict decoder has found nothing since before, a failure is a finding.
func into[T any, P interface {
	*T
	runtime.Object
}](c *checker, d *document, before int) P {
	object := P(new(T))
	if err := runtime.DecodeInto(kubeadmscheme.Codecs.UniversalDecoder(), d.bytes(), object); err != nil {
		if len(c.findings) == before {
			c.typeFinding(d, err.Error())
		}
		return nil
	}
	return object
}

// validateInit validates ClusterConfiguration and InitConfiguration, each
// defaulted when the other stands alone, as kubeadm init does.
func (c *checker) validateInit(f *kubeadmFile) {
	if f.clusterConfig == nil && f.initConfig == nil {
		return
	}
	if f.cluster != nil && f.clusterConfig == nil || f.init != nil && f.initConfig == nil {
		return // one of them cannot be read, which has been said
	}
	config := f.initConfig
	if config == nil {
		config = defaultInit()
	}
	config = config.DeepCopy()
	if f.clusterConfig != nil {
		config.ClusterConfiguration = *f.clusterConfig.DeepCopy()
	} else {
		config.ClusterConfiguration = *defaultCluster()
	}
	c.kubernetesVersion(f, &config.ClusterConfiguration)
	settleNode(&config.NodeRegistration)
	settleEndpoint(&config.LocalAPIEndpoint)
	settleTokens(config)
	c.controlPlaneEndpoint(f, config)
	c.certificateValidity(f, &config.ClusterConfiguration)
	for _, e := range validation.ValidateInitConfiguration(config) {
		c.kubeadmInvalid(e, f.cluster, f.init)
	}
}

// controlPlaneEndpoint adds the port that kubeadm adds, and wants one endpoint
// where several hosts join.
func (c *checker) controlPlaneEndpoint(f *kubeadmFile, config *kubeadmapi.InitConfiguration) {
	endpoint := config.ControlPlaneEndpoint
	if endpoint == "" {
		return
	}
	if _, _, err := net.SplitHostPort(endpoint); err != nil && f.cluster != nil {
		host := strings.Trim(endpoint, "[]")
		config.ControlPlaneEndpoint = net.JoinHostPort(host, strconv.Itoa(int(config.LocalAPIEndpoint.BindPort)))
	}
}

// certificateValidity says what kubeadm only logs while it validates.
func (c *checker) certificateValidity(f *kubeadmFile, config *kubeadmapi.ClusterConfiguration) {
	for _, e := range validation.ValidateCertValidity(config) {
		if f.cluster == nil {
			break
		}
		fieldPath, message, _ := strings.Cut(e.Error(), ": ")
		c.at(f.cluster, fieldPath, finding.Finding{Code: "kubeadm-certificate-validity", Severity: finding.Warning, Message: message})
	}
	config.CertificateValidityPeriod, config.CACertificateValidityPeriod = nil, nil
}

// kubeadmInvalid places one of kubeadm's validation errors in the first
// document that has its field.
func (c *checker) kubeadmInvalid(e *field.Error, docs ...*document) {
	var d *document
	for _, candidate := range docs {
		if candidate == nil {
			continue
		}
		first, _, _ := strings.Cut(e.Field, ".")
		if d == nil || candidate.field(first) != nil {
			d = candidate
		}
	}
	if d == nil {
		return
	}
	if strings.Contains(e.Detail, "a file on disk") {
		return // the file is on the host that joins, not here
	}
	f := finding.Finding{Code: "kubeadm-invalid", Severity: finding.Error, Message: strings.ReplaceAll(e.ErrorBody(), `"": `, "")}
	c.at(d, e.Field, f)
}

func (c *checker) validateJoin(f *kubeadmFile) {
	if f.joinConfig == nil {
		return
	}
	c.joins = append(c.joins, f)
	config := f.joinConfig.DeepCopy()
	settleNode(&config.NodeRegistration)
	if config.ControlPlane != nil {
		settleEndpoint(&config.ControlPlane.LocalAPIEndpoint)
	}
	for _, e := range validation.ValidateJoinConfiguration(config) {
		c.kubeadmInvalid(e, f.join)
	}
}

func (c *checker) validateUpgrade(f *kubeadmFile) {
	if f.upgradeConfig != nil {
		for _, e := range validation.ValidateUpgradeConfiguration(f.upgradeConfig) {
			c.kubeadmInvalid(e, f.upgrade)
		}
		return
	}
	if f.upgrade == nil && f.cluster != nil && strings.Contains(path.Base(f.name), "upgrade") {
		c.at(f.cluster, "kind", finding.Finding{
			Code: "kubeadm-upgrade-ignores", Severity: finding.Error,
			Message: "kubeadm upgrade wants an UpgradeConfiguration and refuses a file without one; a ClusterConfiguration in it is ignored",
			Fix:     "write an UpgradeConfiguration; the ClusterConfiguration goes to kubeadm init phase upload-config",
			Ref:     "https://github.com/kubernetes/kubeadm/issues/3113",
		})
	}
}
