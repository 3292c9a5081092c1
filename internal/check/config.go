package check

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	schedulerv1 "k8s.io/kube-scheduler/config/v1"
	kubelet "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubeadm/app/componentconfigs"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	schedulerscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	schedulervalidation "k8s.io/kubernetes/pkg/scheduler/apis/config/validation"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

// API groups of component configurations.
const (
	kubeletGroup   = "kubelet.config.k8s.io"
	kubeProxyGroup = "kubeproxy.config.k8s.io"
	schedulerGroup = "kubescheduler.config.k8s.io"
)

// kubeletConfig is a kubelet's configuration for the rules over several files.
type kubeletConfig struct {
	doc    *document
	config *kubelet.KubeletConfiguration
}

// judgeComponent decodes a configuration that kubeadm carries for another component.
func (c *checker) judgeComponent(d *document) {
	if !componentconfigs.Scheme.Recognizes(d.gvk()) {
		c.unjudged(d)
		return
	}
	c.strict(d, componentconfigs.Scheme)
}

// judgeKubelet decodes a KubeletConfiguration and judges the fields that decide
// how often a node writes. Upstream's own validation needs the whole API server
// library; tests hold the rendered files to it.
func (c *checker) judgeKubelet(d *document) {
	if !componentconfigs.Scheme.Recognizes(d.gvk()) {
		c.unjudged(d)
		return
	}
	config, ok := c.strict(d, componentconfigs.Scheme).(*kubelet.KubeletConfiguration)
	if !ok {
		return
	}
	c.kubelets = append(c.kubelets, kubeletConfig{d, config})
	for _, name := range sortedKeys(config.FeatureGates) {
		c.judgeGate(d, "featureGates."+name, target.Kubelet, name, config.FeatureGates[name])
	}
	if config.NodeLeaseDurationSeconds < 0 {
		c.at(d, "nodeLeaseDurationSeconds", finding.Finding{
			Code: "kubelet-invalid", Severity: finding.Error, Message: "must be greater than 0",
			Ref: "kubernetes pkg/kubelet/apis/config/validation/validation.go",
		})
	}
	for _, field := range []struct {
		name  string
		value *int32
	}{{"kubeAPIQPS", config.KubeAPIQPS}, {"eventRecordQPS", config.EventRecordQPS}, {"kubeAPIBurst", &config.KubeAPIBurst}, {"eventBurst", &config.EventBurst}, {"maxPods", &config.MaxPods}} {
		if field.value != nil && *field.value < 0 {
			c.at(d, field.name, finding.Finding{
				Code: "kubelet-invalid", Severity: finding.Error, Message: "must not be negative",
				Ref: "kubernetes pkg/kubelet/apis/config/validation/validation.go",
			})
		}
	}
	c.judgeStatusFrequency(d, config)
}

// judgeStatusFrequency: setting only the update frequency makes it the report
// frequency too, and every node writes its status at that rate instead of every 5 min.
func (c *checker) judgeStatusFrequency(d *document, config *kubelet.KubeletConfiguration) {
	update, report := config.NodeStatusUpdateFrequency.Duration, config.NodeStatusReportFrequency.Duration
	if update == 0 || report != 0 || update >= 5*time.Minute {
		return
	}
	c.at(d, "nodeStatusUpdateFrequency", finding.Finding{
		Code: "kubelet-status-report", Severity: finding.Warning,
		Message: fmt.Sprintf("nodeStatusReportFrequency is not set and so becomes %s too, instead of 5m: each node writes its whole status that often", update),
		Fix:     "write nodeStatusReportFrequency: 5m0s",
		Ref:     "kubernetes pkg/kubelet/apis/config/v1beta1/defaults.go, SetDefaults_KubeletConfiguration",
	})
}

// judgeScheduler decodes, defaults and validates a KubeSchedulerConfiguration
// with the scheduler's own code.
func (c *checker) judgeScheduler(d *document) {
	if !schedulerscheme.Scheme.Recognizes(d.gvk()) {
		c.unjudged(d)
		return
	}
	before := len(c.findings)
	if c.strict(d, schedulerscheme.Scheme) == nil {
		return
	}
	object, _, err := schedulerscheme.Codecs.UniversalDecoder().Decode(d.bytes(), nil, nil)
	if err != nil {
		if len(c.findings) == before {
			c.typeFinding(d, err.Error())
		}
		return
	}
	config, ok := object.(*schedulerconfig.KubeSchedulerConfiguration)
	if !ok {
		c.unjudged(d)
		return
	}
	config.APIVersion = schedulerv1.SchemeGroupVersion.String()
	if errs := schedulervalidation.ValidateKubeSchedulerConfiguration(config); errs != nil {
		for _, e := range errs.Errors() {
			c.at(d, errorField(e), finding.Finding{Code: "scheduler-invalid", Severity: finding.Error, Message: errorText(e)})
		}
	}
}

// errorField is the field of a validation error, "" when it names none.
func errorField(err error) string {
	var e *field.Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}

// errorText is what a validation error says besides its field.
func errorText(err error) string {
	var e *field.Error
	if errors.As(err, &e) {
		return e.ErrorBody()
	}
	return err.Error()
}
