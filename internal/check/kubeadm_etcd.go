package check

import (
	"cmp"
	"net"
	"path"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kubeadmapi "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/constants"
	"k8s.io/kubernetes/cmd/kubeadm/app/images"
	kubeadmutil "k8s.io/kubernetes/cmd/kubeadm/app/util"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/staticpod"

	"github.com/kubeseams/seams/internal/target"
)

// etcdPod is kubeadm's etcd, whole, since a patch may be of any part of it.
// kubeadm's own code for it (phases/etcd) brings an etcd client along, so it is
// laid out again, of kubeadm's own parts where there are such; a test compares
// it with kubeadm's.
func etcdPod(v target.Version, config *kubeadmapi.ClusterConfiguration, endpoint *kubeadmapi.APIEndpoint) *corev1.Pod {
	local := &kubeadmapi.LocalEtcd{}
	if config.Etcd.Local != nil {
		local = config.Etcd.Local.DeepCopy()
	}
	local.DataDir = cmp.Or(local.DataDir, "/var/lib/etcd")
	host, port, scheme := staticpod.GetEtcdProbeEndpoint(&kubeadmapi.Etcd{Local: local}, strings.Contains(endpoint.AdvertiseAddress, ":"))
	const data, certs = "etcd-data", "etcd-certs"
	keys, made := config.CertificatesDir+"/etcd", corev1.HostPathDirectoryOrCreate
	pod := staticpod.ComponentPod(corev1.Container{
		Name:            constants.Etcd,
		Command:         append([]string{constants.Etcd}, kubeadmutil.ArgumentsToCommand(etcdArgs(config, endpoint, local.DataDir), local.ExtraArgs)...),
		Image:           images.GetGenericImage(cmp.Or(local.ImageRepository, config.ImageRepository), constants.Etcd, cmp.Or(local.ImageTag, target.EtcdVersion(v))),
		ImagePullPolicy: corev1.PullIfNotPresent,
		VolumeMounts:    []corev1.VolumeMount{staticpod.NewVolumeMount(data, local.DataDir, false), staticpod.NewVolumeMount(certs, keys, false)},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("100Mi"),
		}},
		LivenessProbe:  staticpod.LivenessProbe(host, "/livez", constants.ProbePort, scheme),
		ReadinessProbe: staticpod.ReadinessProbe(host, "/readyz", constants.ProbePort, scheme),
		StartupProbe:   staticpod.StartupProbe(host, "/readyz", constants.ProbePort, scheme, kubeadmapi.GetActiveTimeouts().ControlPlaneComponentHealthCheck),
		Env:            kubeadmutil.MergeKubeadmEnvVars(local.ExtraEnvs),
		Ports:          []corev1.ContainerPort{{Name: constants.ProbePort, ContainerPort: port, Protocol: corev1.ProtocolTCP}},
	}, map[string]corev1.Volume{
		data: staticpod.NewVolume(data, local.DataDir, &made), certs: staticpod.NewVolume(certs, keys, &made),
	}, map[string]string{constants.EtcdAdvertiseClientUrlsAnnotationKey: etcdURL(endpoint.AdvertiseAddress, constants.EtcdListenClientPort)})
	return &pod
}

// etcdURL is how kubeadm writes the address of an etcd.
func etcdURL(host string, port int) string {
	return "https://" + net.JoinHostPort(host, strconv.Itoa(port))
}

// etcdArgs are the arguments that kubeadm gives its etcd.
func etcdArgs(config *kubeadmapi.ClusterConfiguration, endpoint *kubeadmapi.APIEndpoint, dataDir string) []kubeadmapi.Arg {
	loopback := "127.0.0.1"
	if strings.Contains(endpoint.AdvertiseAddress, ":") {
		loopback = "::1"
	}
	pki := config.CertificatesDir
	peer := etcdURL(endpoint.AdvertiseAddress, constants.EtcdListenPeerPort)
	client := etcdURL(endpoint.AdvertiseAddress, constants.EtcdListenClientPort)
	return []kubeadmapi.Arg{
		{Name: "name", Value: placeholderHost},
		{Name: "listen-client-urls", Value: etcdURL(loopback, constants.EtcdListenClientPort) + "," + client},
		{Name: "advertise-client-urls", Value: client},
		{Name: "listen-peer-urls", Value: peer},
		{Name: "initial-advertise-peer-urls", Value: peer},
		{Name: "initial-cluster", Value: placeholderHost + "=" + peer},
		{Name: "data-dir", Value: dataDir},
		{Name: "cert-file", Value: path.Join(pki, constants.EtcdServerCertName)},
		{Name: "key-file", Value: path.Join(pki, constants.EtcdServerKeyName)},
		{Name: "trusted-ca-file", Value: path.Join(pki, constants.EtcdCACertName)},
		{Name: "client-cert-auth", Value: "true"},
		{Name: "peer-cert-file", Value: path.Join(pki, constants.EtcdPeerCertName)},
		{Name: "peer-key-file", Value: path.Join(pki, constants.EtcdPeerKeyName)},
		{Name: "peer-trusted-ca-file", Value: path.Join(pki, constants.EtcdCACertName)},
		{Name: "peer-client-cert-auth", Value: "true"},
		{Name: "snapshot-count", Value: "10000"},
		{Name: "listen-metrics-urls", Value: "http://" + net.JoinHostPort(loopback, strconv.Itoa(constants.EtcdMetricsPort))},
		{Name: "feature-gates", Value: "InitialCorruptCheck=true"},
		{Name: "watch-progress-notify-interval", Value: "5s"},
	}
}
