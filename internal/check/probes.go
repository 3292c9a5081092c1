package check

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/override"
	"github.com/kubeseams/seams/internal/pattern"
)

const refHealth = "k8s.io/apiserver pkg/server/options/etcd.go, addEtcdHealthEndpoint"

// serverKey names a set of servers, in which their order does not count.
func serverKey(servers []string) string {
	sorted := slices.Clone(servers)
	slices.Sort(sorted)
	return strings.Join(sorted, ";")
}

// healthCheck is the check that kube-apiserver adds for a set of servers.
type healthCheck struct {
	servers []string
	// keys are what is routed there.
	keys []string
}

// healthChecks numbers the sets of servers as kube-apiserver does.
func healthChecks(overrides []override.Override) []healthCheck {
	var checks []healthCheck
	index := map[string]int{}
	for _, o := range overrides {
		key := serverKey(o.Servers)
		i, ok := index[key]
		if !ok {
			i = len(checks)
			index[key] = i
			checks = append(checks, healthCheck{servers: o.Servers})
		}
		checks[i].keys = append(checks[i].keys, o.Key())
	}
	return checks
}

// judgeProbes: every routed store is a check in /livez, so that the loss of one
// whose data does not matter restarts every kube-apiserver, unless the probe
// leaves it out.
func (c *checker) judgeProbes(p *process, stores []endpoint) {
	if p.pod == nil || p.container >= len(p.pod.Spec.Containers) {
		return
	}
	checks := healthChecks(p.overrides())
	container := p.pod.Spec.Containers[p.container]
	tied := make([][]string, len(checks))
	for _, probe := range []struct {
		name  string
		probe *corev1.Probe
	}{{"livenessProbe", container.LivenessProbe}, {"startupProbe", container.StartupProbe}} {
		excluded, ok := exclusions(probe.probe)
		if !ok {
			continue
		}
		c.judgeExclusions(p, probe.name, excluded, len(checks))
		for n := range checks {
			if !slices.Contains(excluded, checkName(n)) && !slices.Contains(excluded, "etcd") {
				tied[n] = append(tied[n], probe.name)
			}
		}
	}
	for n, check := range checks {
		why := c.mayBeLost(p, check, stores)
		if why == "" || len(tied[n]) == 0 {
			continue
		}
		c.atProbe(p, check.keys[0], tied[n][0], finding.Finding{
			Code: "probe-tied-to-store", Severity: finding.Warning,
			Message: fmt.Sprintf("%s of %s ask the store of %s too, which %s: its loss restarts every kube-apiserver", strings.Join(tied[n], " and "), p, strings.Join(check.keys, ", "), why),
			Fix:     fmt.Sprintf("probe /livez?exclude=%s, with a JSON patch on /spec/containers/0/%s/httpGet/path where kubeadm writes the pod", checkName(n), tied[n][0]),
			Ref:     refHealth,
		})
	}
}

// checkName is the name of the n-th set of servers in /livez.
func checkName(n int) string { return fmt.Sprintf("etcd-override-%d", n) }

// mayBeLost says why a store's loss should not restart an apiserver, or "".
func (c *checker) mayBeLost(p *process, check healthCheck, stores []endpoint) string {
	for _, server := range check.servers {
		for _, e := range answering(stores, p, server) {
			if e.process.inMemory() {
				return "keeps its data in memory"
			}
		}
	}
	onlyEvents := !slices.ContainsFunc(check.keys, func(key string) bool { return key != "/events" })
	switch {
	case onlyEvents && len(check.servers) < 3:
		return fmt.Sprintf("holds nothing but events and has %d member(s)", len(check.servers))
	case len(check.servers) < 3 && c.apiservers() > 1:
		return fmt.Sprintf("has %d member(s) under several kube-apiservers", len(check.servers))
	}
	return ""
}

// exclusions are the checks that a probe's path leaves out; ok is false for a
// probe that does not ask for health.
func exclusions(probe *corev1.Probe) (names []string, ok bool) {
	if probe == nil || probe.HTTPGet == nil {
		return nil, false
	}
	u, err := url.Parse(probe.HTTPGet.Path)
	if err != nil || u.Path != "/livez" && u.Path != "/healthz" && u.Path != "/readyz" {
		return nil, false
	}
	return u.Query()["exclude"], true
}

var overrideCheck = pattern.Of(`^etcd-override-(?:readiness-)?(\d+)$`)

// judgeExclusions: a check that does not exist is left out without a word, so
// that a number too high means that the wrong store is kept in.
func (c *checker) judgeExclusions(p *process, probe string, excluded []string, checks int) {
	for _, name := range excluded {
		m := overrideCheck().FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if n, err := strconv.Atoi(m[1]); err == nil && n < checks {
			continue
		}
		c.atProbe(p, "", probe, finding.Finding{
			Code: "probe-excludes-nothing", Severity: finding.Error,
			Message: fmt.Sprintf("the %s of %s leaves out %s, and there are only %d such checks, numbered from 0", probe, p, name, checks),
			Fix:     "number the sets of servers in the order of the overrides", Ref: refHealth,
		})
	}
}

// atProbe adds a finding where a probe is described, or where kubeadm writes
// the probe, at the route whose store it is about.
func (c *checker) atProbe(p *process, route, probe string, f finding.Finding) {
	if p.byKubeadm || !strings.HasSuffix(p.path, ".command") {
		c.atRoute(p, route, f)
		return
	}
	c.at(p.doc, strings.TrimSuffix(p.path, "command")+probe, f)
}
