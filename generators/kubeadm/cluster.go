package kubeadm

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/profile"
)

// DiscoveryPath is the kubeconfig with which a host finds the cluster when it
// joins. The endpoint in it is the one its kubelet keeps, which a bootstrap
// token in the configuration could not choose: that leads to the main endpoint.
const DiscoveryPath = "/etc/kubernetes/discovery.conf"

func typeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1beta4.SchemeGroupVersion.String(), Kind: kind}
}

// ClusterConfiguration is what all control-plane hosts have in common. It
// names no argument that kubeadm sets itself, since kubeadm's value would be
// lost, except the controllers when groups of them are run apart.
func ClusterConfiguration(p *plan.Plan) *v1beta4.ClusterConfiguration {
	main := controlplane.MainTier(p)
	return &v1beta4.ClusterConfiguration{
		TypeMeta:             typeMeta("ClusterConfiguration"),
		KubernetesVersion:    "v" + p.Target.Kubernetes.String(),
		ControlPlaneEndpoint: p.ControlPlane.Endpoint,
		Networking: v1beta4.Networking{
			PodSubnet:     p.ControlPlane.Network.PodCIDR,
			ServiceSubnet: p.ControlPlane.Network.ServiceCIDR,
		},
		Etcd: v1beta4.Etcd{Local: localEtcd(p)},
		APIServer: v1beta4.APIServer{
			ControlPlaneComponent: v1beta4.ControlPlaneComponent{
				ExtraArgs: args(controlplane.TierFlags(p, main)),
				ExtraEnvs: envs(main.Env),
			},
			CertSANs: certSANs(p),
		},
		ControllerManager: v1beta4.ControlPlaneComponent{
			ExtraArgs: args(controlplane.ControllerManagerFlags(p)),
			ExtraEnvs: envs(p.ControllerManager.Env),
		},
		Scheduler: v1beta4.ControlPlaneComponent{
			ExtraArgs:    args(controlplane.SchedulerFlags(p)),
			ExtraEnvs:    envs(p.Scheduler.Env),
			ExtraVolumes: schedulerVolumes(p),
		},
	}
}

// localEtcd is main, of which kubeadm decides everything but the quota and the
// data directory.
func localEtcd(p *plan.Plan) *v1beta4.LocalEtcd {
	main, _ := p.Store("main")
	local := &v1beta4.LocalEtcd{}
	if main.QuotaBytes > 0 {
		local.ExtraArgs = []v1beta4.Arg{{Name: "quota-backend-bytes", Value: strconv.FormatInt(main.QuotaBytes, 10)}}
	}
	if main.DataDir != defaultDataDir {
		local.DataDir = main.DataDir
	}
	return local
}

// defaultDataDir is kubeadm's data directory of etcd.
const defaultDataDir = "/var/lib/etcd"

// certSANs are the names clients call the extra tiers by; they serve with the
// certificate of the main apiserver.
func certSANs(p *plan.Plan) []string {
	host := controlplane.EndpointHost(p.ControlPlane.NodeEndpoint)
	if host == "" || host == controlplane.EndpointHost(p.ControlPlane.Endpoint) {
		return nil
	}
	return []string{host}
}

func schedulerVolumes(p *plan.Plan) []v1beta4.HostPathMount {
	if controlplane.SchedulerConfig(p) == nil {
		return nil
	}
	return []v1beta4.HostPathMount{{
		Name:      controlplane.SchedulerConfigVolume,
		HostPath:  controlplane.SchedulerConfigPath,
		MountPath: controlplane.SchedulerConfigPath,
		ReadOnly:  true,
		PathType:  corev1.HostPathFile,
	}}
}

func args(flags controlplane.Flags) []v1beta4.Arg {
	var list []v1beta4.Arg
	for _, name := range flags.Names() {
		list = append(list, v1beta4.Arg{Name: name, Value: flags[name]})
	}
	return list
}

func envs(env map[string]string) []v1beta4.EnvVar {
	var list []v1beta4.EnvVar
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, v1beta4.EnvVar{EnvVar: corev1.EnvVar{Name: name, Value: env[name]}})
	}
	return list
}

func initConfiguration(p *plan.Plan) *v1beta4.InitConfiguration {
	first := p.ControlPlane.Hosts[0]
	return &v1beta4.InitConfiguration{
		TypeMeta:         typeMeta("InitConfiguration"),
		NodeRegistration: v1beta4.NodeRegistrationOptions{Name: first.Name},
		LocalAPIEndpoint: localEndpoint(p, first),
		Patches:          Patches(p),
	}
}

// presentHost is what kubeadm's phases have to know of a host that is there:
// certificate and manifest carry its name and address.
func presentHost(p *plan.Plan, h profile.Host) *v1beta4.InitConfiguration {
	return &v1beta4.InitConfiguration{
		TypeMeta:         typeMeta("InitConfiguration"),
		NodeRegistration: v1beta4.NodeRegistrationOptions{Name: h.Name},
		LocalAPIEndpoint: localEndpoint(p, h),
		Patches:          Patches(p),
	}
}

func localEndpoint(p *plan.Plan, h profile.Host) v1beta4.APIEndpoint {
	return v1beta4.APIEndpoint{AdvertiseAddress: h.Address, BindPort: int32(controlplane.Port(controlplane.MainTier(p)))}
}

// joinControlPlane joins a further control-plane host. The certificate
// authorities are copied to it beforehand, so that no key is written down here.
func joinControlPlane(p *plan.Plan, h profile.Host) *v1beta4.JoinConfiguration {
	join := joinWorker()
	join.NodeRegistration.Name = h.Name
	join.ControlPlane = &v1beta4.JoinControlPlane{LocalAPIEndpoint: localEndpoint(p, h)}
	join.Patches = Patches(p)
	return join
}

func joinWorker() *v1beta4.JoinConfiguration {
	return &v1beta4.JoinConfiguration{
		TypeMeta:  typeMeta("JoinConfiguration"),
		Discovery: v1beta4.Discovery{File: &v1beta4.FileDiscovery{KubeConfigPath: DiscoveryPath}},
	}
}

// upgradeConfiguration repeats the patches: kubeadm forgets them between
// commands, and an upgrade without them undoes them.
func upgradeConfiguration(p *plan.Plan) *v1beta4.UpgradeConfiguration {
	version := "v" + p.Target.Kubernetes.String()
	return &v1beta4.UpgradeConfiguration{
		TypeMeta: typeMeta("UpgradeConfiguration"),
		Apply:    v1beta4.UpgradeApplyConfiguration{KubernetesVersion: version, Patches: Patches(p)},
		Diff:     v1beta4.UpgradeDiffConfiguration{KubernetesVersion: version},
		Node:     v1beta4.UpgradeNodeConfiguration{Patches: Patches(p)},
		Plan:     v1beta4.UpgradePlanConfiguration{KubernetesVersion: version},
	}
}
