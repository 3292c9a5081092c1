package plan

import (
	"fmt"
	"strings"
)

// switched is one control-plane program of a host with its new manifest.
type switched struct{ host, component string }

func (s switched) pod() string { return s.component + "-" + s.host }

// was is the shell variable with the hash of the manifest that runs.
func (s switched) was() string {
	return "was_" + strings.NewReplacer("-", "_", ".", "_").Replace(s.pod())
}

func (s switched) manifest() string { return manifestsDir + "/" + s.component + ".yaml" }

// before is the manifest as it was just before a step changed it.
func (s switched) before() string { return hostDir + "/before-" + s.component + ".yaml" }

// restartFunctions are what the commands of a restart call. A manifest that was
// written is not one that runs: kubelet takes it up some seconds later, and the
// old process answers /readyz as ever until it has. The hash that kubelet puts
// on a static pod's mirror tells the two apart, and is what kubeadm's own
// upgrade waits for, which also waits only if the manifest became another one.
func restartFunctions() []string {
	return []string{
		`config_hash() { kubectl -n kube-system get pod "$1" --ignore-not-found -o jsonpath='{.metadata.annotations.kubernetes\.io/config\.hash}'; }`,
		`until_renewed() { for _ in $(seq 150); do now=$(config_hash "$1" 2>/dev/null) && [ -n "$now" ] && [ "$now" != "$2" ] && return; sleep 2; done; ` +
			`echo "$1: kubelet does not take up its manifest: see the journal of kubelet there" >&2; return 1; }`,
	}
}

// remember keeps the hash of what runs.
func (s switched) remember() string { return s.was() + "=$(config_hash " + s.pod() + ")" }

// keep copies the manifest that runs, on the host itself; one that is not there
// leaves no copy, so that whatever comes is different.
func (s switched) keep() string {
	return fmt.Sprintf("mkdir -p %[1]s; rm -f %[2]s; ! test -e %[3]s || cp -p %[3]s %[2]s", hostDir, s.before(), s.manifest())
}

// renewed waits until a changed manifest runs, and is ready.
func (m *maker) renewed(s switched) []string {
	commands := []string{m.ssh(s.host, "cmp -s "+s.before()+" "+s.manifest()) + " || until_renewed " + s.pod() + ` "$` + s.was() + `"`}
	if s.component == apiserver {
		commands = append(commands, m.untilServes(s.host))
	}
	return append(commands, waitReady(s.pod()))
}

// apply renders one component of a host anew.
func (m *maker) apply(s switched) string {
	if m.kubeadm() {
		phase := strings.TrimPrefix(s.component, "kube-")
		return m.ssh(s.host, s.keep()+"; kubeadm init phase control-plane "+phase+" --config "+thisHost)
	}
	return m.ssh(s.host, s.keep()) + " && " + m.scp("manifests/"+s.host+"/"+s.component+".yaml", s.host, manifestsDir+"/")
}

// The control plane's programs, as kubeadm names their static pods.
const (
	apiserver         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
)

// inTurn switches components of one host and waits for each.
func (m *maker) inTurn(host string, components ...string) []string {
	var before, after []string
	for _, c := range components {
		s := switched{host, c}
		before = append(before, s.remember(), m.apply(s))
		after = append(after, m.renewed(s)...)
	}
	return append(before, after...)
}

// together switches one component of all hosts at once.
func (m *maker) together(component string) []string {
	commands := restartFunctions()
	var wait, after []string
	for i, h := range m.hostNames() {
		s := switched{h, component}
		commands = append(commands, s.remember())
		wait = append(wait, fmt.Sprintf("wait $pid_%d", i+1))
		after = append(after, m.renewed(s)...)
	}
	for i, h := range m.hostNames() {
		commands = append(commands, fmt.Sprintf("{ %s; } & pid_%d=$!", m.apply(switched{h, component}), i+1))
	}
	return append(append(commands, wait...), after...)
}
