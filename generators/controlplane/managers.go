package controlplane

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/internal/plan"
)

// Ports of the probes of controller manager and scheduler, upstream's defaults.
const (
	controllerManagerPort = 10257
	schedulerPort         = 10259
)

// kubeadmControllers are what kubeadm runs: everything that is on by default
// and the two controllers of bootstrap tokens.
var kubeadmControllers = []string{"*", "bootstrap-signer-controller", "token-cleaner-controller"}

// ControllerManagerFlags are the flags that the plan asks of the controller
// manager beyond what its installer sets. When groups of controllers are run
// apart, it runs all the others.
func ControllerManagerFlags(p *plan.Plan) Flags {
	flags := Flags(p.ControllerManager.Flags).With()
	flags.joinGates(p.ControllerManager.FeatureGates)
	if n := p.ControlPlane.Network; n.NodeMaskSize > 0 && n.PodCIDR != "" && n.NodeMaskSize != defaultNodeMask(n.PodCIDR) {
		flags["node-cidr-mask-size"] = strconv.Itoa(n.NodeMaskSize)
	}
	if len(p.ControllerGroups) == 0 {
		return flags
	}
	var moved []string
	for _, g := range p.ControllerGroups {
		moved = append(moved, g.Controllers...)
	}
	slices.Sort(moved)
	var controllers []string
	for _, c := range kubeadmControllers {
		if !slices.Contains(moved, c) {
			controllers = append(controllers, c)
		}
	}
	for _, c := range moved {
		controllers = append(controllers, "-"+c)
	}
	flags["controllers"] = strings.Join(controllers, ",")
	return flags
}

// defaultNodeMask is what the controller manager takes without the flag.
func defaultNodeMask(podCIDR string) int {
	if strings.Contains(podCIDR, ":") {
		return 64
	}
	return 24
}

// ControllerManager is the static pod of the controller manager.
func ControllerManager(p *plan.Plan) *corev1.Pod {
	return controllerManager(p, "kube-controller-manager", controllerManagerPort,
		controllerManagerBase(p).With(map[string]string{"controllers": strings.Join(kubeadmControllers, ",")}, ControllerManagerFlags(p)))
}

// ControllerGroup is the static pod of a controller manager that runs some
// controllers. Its lock is its own, so that on several hosts one of each group
// is active, and not always on the host of the others; the role of the
// controller manager's user allows any Lease in kube-system. It has no key for
// service account tokens: whoever has it runs the controller that signs them,
// whatever --controllers says (kubernetes BuildControllers).
func ControllerGroup(p *plan.Plan, g plan.ControllerGroup) *corev1.Pod {
	name := "kube-controller-manager-" + g.Name
	flags := controllerManagerBase(p).With(ControllerManagerFlags(p), map[string]string{
		"controllers":                strings.Join(g.Controllers, ","),
		"leader-elect-resource-name": name,
		"secure-port":                strconv.Itoa(g.Port),
	})
	delete(flags, "service-account-private-key-file")
	return controllerManager(p, name, g.Port, flags)
}

func controllerManager(p *plan.Plan, name string, port int, flags Flags) *corev1.Pod {
	return component{
		name:      name,
		container: "kube-controller-manager",
		image:     image("kube-controller-manager", p.Target.Kubernetes.String()),
		command:   flags.Command("kube-controller-manager"),
		env:       p.ControllerManager.Env,
		port:      port,
		host:      "127.0.0.1",
		scheme:    corev1.URISchemeHTTPS,
		probes:    ProbePaths{Live: "/healthz", Start: "/healthz"},
		cpu:       "200m",
		mounts: []mount{
			{name: "ca-certs", path: "/etc/ssl/certs", kind: corev1.HostPathDirectoryOrCreate, readOnly: true},
			{name: "k8s-certs", path: PKIDir, kind: corev1.HostPathDirectoryOrCreate, readOnly: true},
			{name: "kubeconfig", path: controllerManagerKubeconfig, kind: corev1.HostPathFileOrCreate, readOnly: true},
		},
	}.pod()
}

const (
	controllerManagerKubeconfig = "/etc/kubernetes/controller-manager.conf"
	schedulerKubeconfig         = "/etc/kubernetes/scheduler.conf"
)

func controllerManagerBase(p *plan.Plan) Flags {
	flags := Flags{
		"authentication-kubeconfig":        controllerManagerKubeconfig,
		"authorization-kubeconfig":         controllerManagerKubeconfig,
		"bind-address":                     "127.0.0.1",
		"client-ca-file":                   PKIDir + "/ca.crt",
		"cluster-name":                     "kubernetes",
		"cluster-signing-cert-file":        PKIDir + "/ca.crt",
		"cluster-signing-key-file":         PKIDir + "/ca.key",
		"kubeconfig":                       controllerManagerKubeconfig,
		"leader-elect":                     "true",
		"requestheader-client-ca-file":     PKIDir + "/front-proxy-ca.crt",
		"root-ca-file":                     PKIDir + "/ca.crt",
		"service-account-private-key-file": PKIDir + "/sa.key",
		"use-service-account-credentials":  "true",
	}
	if pods := p.ControlPlane.Network.PodCIDR; pods != "" {
		flags["allocate-node-cidrs"] = "true"
		flags["cluster-cidr"] = pods
		flags["service-cluster-ip-range"] = ServiceCIDR(p)
	}
	return flags
}

// SchedulerFlags are the flags that the plan asks of the scheduler beyond what
// its installer sets.
func SchedulerFlags(p *plan.Plan) Flags {
	flags := Flags(p.Scheduler.Flags).With()
	flags.joinGates(p.Scheduler.FeatureGates)
	if SchedulerConfig(p) != nil {
		flags["config"] = SchedulerConfigPath
	}
	return flags
}

// Scheduler is the static pod of the scheduler.
func Scheduler(p *plan.Plan) *corev1.Pod {
	mounts := []mount{{name: "kubeconfig", path: schedulerKubeconfig, kind: corev1.HostPathFileOrCreate, readOnly: true}}
	if SchedulerConfig(p) != nil {
		mounts = append(mounts, mount{name: SchedulerConfigVolume, path: SchedulerConfigPath, kind: corev1.HostPathFile, readOnly: true})
	}
	return component{
		name:      "kube-scheduler",
		container: "kube-scheduler",
		image:     image("kube-scheduler", p.Target.Kubernetes.String()),
		command: Flags{
			"authentication-kubeconfig": schedulerKubeconfig,
			"authorization-kubeconfig":  schedulerKubeconfig,
			"bind-address":              "127.0.0.1",
			"kubeconfig":                schedulerKubeconfig,
			"leader-elect":              "true",
		}.With(SchedulerFlags(p)).Command("kube-scheduler"),
		env:    p.Scheduler.Env,
		port:   schedulerPort,
		host:   "127.0.0.1",
		scheme: corev1.URISchemeHTTPS,
		probes: ProbePaths{Live: "/livez", Ready: "/readyz", Start: "/livez"},
		cpu:    "100m",
		mounts: mounts,
	}.pod()
}
