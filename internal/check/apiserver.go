package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/override"
	"github.com/kubeseams/seams/internal/target"
)

// judgeProcesses judges every command line by itself.
func (c *checker) judgeProcesses() {
	whole := c.target
	for _, p := range c.processes {
		c.target.Kubernetes = c.versionOf(p)
		c.judgeProcess(p)
		c.target = whole
	}
}

func (c *checker) judgeProcess(p *process) {
	c.judgeFlags(p)
	c.judgeGateFlag(p)
	c.judgeReplaced(p)
	c.judgeFiles(p)
	switch p.component {
	case target.KubeAPIServer:
		c.judgeOverrides(p)
		c.judgeWatchCache(p)
		c.judgeAPIServer(p)
	case target.APIExtensionsServer:
		c.judgeOverrides(p)
		c.judgeWatchCache(p)
	}
}

// versionOf is the Kubernetes version that a process is of. Of what runs it is
// the tag of its image, since in the middle of an upgrade, or beside a
// configuration for the next version, not every host has the same.
func (c *checker) versionOf(p *process) target.Version {
	image, _, _ := strings.Cut(p.image, "@")
	name, tag, _ := strings.Cut(image[strings.LastIndexByte(image, '/')+1:], ":")
	if !c.existing || !strings.HasPrefix(p.component, "kube-") || !strings.HasPrefix(name, p.component) && name != "hyperkube" {
		return c.version()
	}
	tag = tag[:len(tag)-len(strings.TrimLeft(tag, "v.0123456789"))] // v1.29.3-eks-1
	if v, err := target.ParseVersion(tag); err == nil {
		return v
	}
	return c.version()
}

// overrides gives the storage overrides of an apiserver, nil without any or
// with a value that it refuses.
func (p *process) overrides() []override.Override {
	values := p.all(override.Flag)
	if len(values) == 0 {
		return nil
	}
	if p.parsed == nil {
		p.parsed, _ = override.ParseAll(values)
	}
	return p.parsed
}

// judgeOverrides judges --etcd-servers-overrides, which may be given several times.
func (c *checker) judgeOverrides(p *process) {
	var all []override.Override
	for _, a := range p.args {
		if a.name != override.Flag || !a.own {
			continue
		}
		overrides, findings := override.Parse(a.value)
		all = append(all, overrides...)
		for _, f := range findings {
			c.at(a.doc, a.valuePath, f)
		}
	}
	for _, f := range override.Judge(all, c.version()) {
		c.atFlag(p, override.Flag, f)
	}
}

// atRoute adds a finding at the argument that routes a resource; there may be several.
func (c *checker) atRoute(p *process, key string, f finding.Finding) {
	for _, a := range p.args {
		if a.name != override.Flag || !a.own {
			continue
		}
		overrides, _ := override.Parse(a.value)
		if slices.ContainsFunc(overrides, func(o override.Override) bool { return o.Key() == key }) {
			c.at(a.doc, a.valuePath, f)
			return
		}
	}
	c.atFlag(p, override.Flag, f)
}

// judgeAPIServer judges values whose meaning surprises.
func (c *checker) judgeAPIServer(p *process) {
	if ttl, ok := p.flag("event-ttl"); ok {
		if d, err := time.ParseDuration(ttl); err == nil && d <= 0 {
			c.atFlag(p, "event-ttl", finding.Finding{
				Code: "event-ttl-zero", Severity: finding.Error,
				Message: "a TTL of 0 keeps events for ever, until etcd is full",
				Fix:     "write a TTL such as 1h, upstream's default", Ref: "https://github.com/kubernetes/kubernetes/issues/124836",
			})
		}
	}
	if chance, ok := p.flag("goaway-chance"); ok {
		if f, err := strconv.ParseFloat(chance, 64); err == nil && (f < 0 || f > 0.02) {
			c.atFlag(p, "goaway-chance", finding.Finding{
				Code: "goaway-chance-range", Severity: finding.Error,
				Message: fmt.Sprintf("kube-apiserver refuses a chance of %s: it must be between 0 and 0.02", chance),
				Fix:     "write 0.001", Ref: "k8s.io/apiserver pkg/server/options/server_run_options.go, Validate",
			})
		}
	}
	c.judgeSeats(p)
}

// judgeSeats: both limits at 0 leave priority and fairness without a seat.
func (c *checker) judgeSeats(p *process) {
	read, ok1 := p.flag("max-requests-inflight")
	write, ok2 := p.flag("max-mutating-requests-inflight")
	if !ok1 && !ok2 {
		return
	}
	sum := 0
	for _, limit := range []struct {
		text string
		set  bool
		def  int
	}{{read, ok1, 400}, {write, ok2, 200}} {
		n := limit.def
		if limit.set {
			var err error
			if n, err = strconv.Atoi(limit.text); err != nil {
				return // judged as a value of the wrong type
			}
		}
		if n < 0 {
			c.atFlag(p, "max-requests-inflight", finding.Finding{
				Code: "inflight-negative", Severity: finding.Error, Message: "kube-apiserver refuses a negative limit of requests in flight",
			})
			return
		}
		sum += n
	}
	if fair, _ := p.flag("enable-priority-and-fairness"); sum == 0 && fair != "false" {
		c.atFlag(p, "max-requests-inflight", finding.Finding{
			Code: "inflight-zero", Severity: finding.Error,
			Message: "both limits are 0: kube-apiserver refuses that while priority and fairness is on",
			Fix:     "give max-requests-inflight the sum of the seats that are meant",
			Ref:     "k8s.io/apiserver pkg/server/options/server_run_options.go, Validate",
		})
	}
}

// fileFlags are the endings of flags whose values are files on the host.
var fileFlags = []string{"-file", "-cafile", "-certfile", "-keyfile", "kubeconfig", "-certificate", "-key", "config", "-dir"}

// judgeFiles wants every file that a pod's command names to be mounted in it.
func (c *checker) judgeFiles(p *process) {
	if p.pod == nil {
		return
	}
	for _, a := range p.args {
		if !a.own || !strings.HasPrefix(a.value, "/") || !hasAnySuffix(a.name, fileFlags) || strings.Contains(a.value, ",") {
			continue
		}
		if mounted(p, a.value) {
			continue
		}
		c.at(a.doc, a.valuePath, finding.Finding{
			Code: "file-not-mounted", Severity: finding.Error,
			Message: fmt.Sprintf("--%s names %s, which no volume brings into the container of %s", a.name, a.value, p.podName),
			Fix:     "mount the file or its directory",
		})
	}
}

func hasAnySuffix(s string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// mounted reports whether a path in the process's container comes from a volume.
func mounted(p *process, file string) bool {
	if p.container >= len(p.pod.Spec.Containers) {
		return true
	}
	for _, m := range p.pod.Spec.Containers[p.container].VolumeMounts {
		at := strings.TrimSuffix(m.MountPath, "/")
		if file == at || strings.HasPrefix(file, at+"/") {
			return true
		}
	}
	return false
}
