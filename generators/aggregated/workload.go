package aggregated

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/internal/plan"
)

func serverSecret(t plan.AggregatedTier) string { return t.Name + "-server" }
func etcdSecret(t plan.AggregatedTier) string   { return t.Name + "-etcd" }
func reviewsName(t plan.AggregatedTier) string  { return t.Name + "-reviews" }

// Places in the pods, and the ports of a workload's etcd, which has an address
// of its own and so upstream's ports.
const (
	serverKeys      = "/etc/seams/server"
	reviewsDir      = "/etc/seams/reviews"
	etcdKeys        = "/etc/seams/etcd"
	etcdData        = "/var/lib/etcd"
	etcdClientPort  = 2379
	etcdPeerPort    = 2380
	etcdMetricsPort = 2381
	// nobody is the user of upstream's own distroless images.
	nobody int64 = 65532
)

// workload is the Deployment of a tier's server and the StatefulSet of its etcd.
func workload(p *plan.Plan, t plan.AggregatedTier, s plan.Store) []any {
	return []any{deployment(p, t, s), statefulSet(p, t, s)}
}

func deployment(p *plan.Plan, t plan.AggregatedTier, s plan.Store) *appsv1.Deployment {
	var servers []string
	for i := range t.Members(s) {
		servers = append(servers, fmt.Sprintf("https://%s:%d", t.MemberName(i), etcdClientPort))
	}
	command := controlplane.AggregatedFlags(p, t, controlplane.AggregatedPaths{
		Dir: serverKeys, EtcdCA: serverKeys + "/etcd-ca.crt", EtcdServers: servers,
		ClientCA: serverKeys + "/client-ca.crt", FrontProxyCA: serverKeys + "/front-proxy-ca.crt", Reviews: reviewsDir,
	}).Command(t.Server)
	replicas := int32(t.Replicas)
	container := corev1.Container{
		Name: t.Server, Image: controlplane.AggregatedImage(p, t), Command: command, ImagePullPolicy: corev1.PullIfNotPresent,
		Ports:           []corev1.ContainerPort{{Name: portName, ContainerPort: int32(t.Port), Protocol: corev1.ProtocolTCP}},
		Resources:       requests("250m", controlplane.AggregatedMemory(t)),
		VolumeMounts:    []corev1.VolumeMount{{Name: "keys", MountPath: serverKeys, ReadOnly: true}},
		SecurityContext: confined(),
		StartupProbe:    probe("/livez", portName, corev1.URISchemeHTTPS, 24, 10),
		LivenessProbe:   probe("/livez", portName, corev1.URISchemeHTTPS, 8, 10),
		ReadinessProbe:  probe("/readyz", portName, corev1.URISchemeHTTPS, 3, 1),
	}
	volumes := []corev1.Volume{secretVolume("keys", serverSecret(t))}
	if t.Second() {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "reviews", MountPath: reviewsDir, ReadOnly: true})
		volumes = append(volumes, corev1.Volume{Name: "reviews", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: reviewsName(t)}},
		}})
	}
	pod := podSpec(t, serverName, container)
	pod.ServiceAccountName, pod.Volumes = t.Name, volumes
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: meta(t, t.Name),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: selects(t, serverName)},
			Template: template(t, serverName, pod),
		},
	}
}

func statefulSet(p *plan.Plan, t plan.AggregatedTier, s plan.Store) *appsv1.StatefulSet {
	replicas, none := int32(t.Members(s)), false
	container := corev1.Container{
		Name: "etcd", Image: controlplane.EtcdImage(p), Command: etcdFlags(t, s).Command("etcd"), ImagePullPolicy: corev1.PullIfNotPresent,
		Env: []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}}},
		Ports: []corev1.ContainerPort{
			{Name: "client", ContainerPort: etcdClientPort, Protocol: corev1.ProtocolTCP},
			{Name: "peer", ContainerPort: etcdPeerPort, Protocol: corev1.ProtocolTCP},
			{Name: "metrics", ContainerPort: etcdMetricsPort, Protocol: corev1.ProtocolTCP},
		},
		Resources:       requests("100m", "256Mi"),
		VolumeMounts:    []corev1.VolumeMount{{Name: "keys", MountPath: etcdKeys, ReadOnly: true}, {Name: "data", MountPath: etcdData}},
		SecurityContext: confined(),
		StartupProbe:    probe("/readyz", "metrics", corev1.URISchemeHTTP, 24, 10),
		LivenessProbe:   probe("/livez", "metrics", corev1.URISchemeHTTP, 8, 10),
		ReadinessProbe:  probe("/readyz", "metrics", corev1.URISchemeHTTP, 3, 5),
	}
	pod := podSpec(t, etcdName, container)
	pod.AutomountServiceAccountToken = &none
	pod.Volumes = []corev1.Volume{secretVolume("keys", etcdSecret(t))}
	set := &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "StatefulSet"},
		ObjectMeta: meta(t, t.EtcdService()),
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: t.EtcdService(), Selector: &metav1.LabelSelector{MatchLabels: selects(t, etcdName)},
			// The members wait for each other to begin.
			PodManagementPolicy: appsv1.ParallelPodManagement,
		},
	}
	size := resource.NewQuantity(controlplane.MemoryLimit(s), resource.BinarySI)
	if controlplane.Ephemeral(s) {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: size},
		}})
	} else {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{claim(t, *size)}
	}
	set.Spec.Template = template(t, etcdName, pod)
	return set
}

// etcdFlags are those of every member; a member's name is its pod's.
func etcdFlags(t plan.AggregatedTier, s plan.Store) controlplane.Flags {
	self := fmt.Sprintf("$(POD_NAME).%s.%s.svc", t.EtcdService(), t.Namespace)
	var members []string
	for i := range t.Members(s) {
		members = append(members, fmt.Sprintf("%s-%d=https://%s:%d", t.EtcdService(), i, t.MemberName(i), etcdPeerPort))
	}
	flags := controlplane.Flags{
		"name":                        "$(POD_NAME)",
		"data-dir":                    etcdData + "/data",
		"listen-client-urls":          fmt.Sprintf("https://0.0.0.0:%d", etcdClientPort),
		"advertise-client-urls":       fmt.Sprintf("https://%s:%d", self, etcdClientPort),
		"listen-peer-urls":            fmt.Sprintf("https://0.0.0.0:%d", etcdPeerPort),
		"initial-advertise-peer-urls": fmt.Sprintf("https://%s:%d", self, etcdPeerPort),
		"initial-cluster":             strings.Join(members, ","),
		"initial-cluster-state":       "new",
		"initial-cluster-token":       s.Token,
		"listen-metrics-urls":         fmt.Sprintf("http://0.0.0.0:%d", etcdMetricsPort),
		"cert-file":                   etcdKeys + "/server.crt",
		"key-file":                    etcdKeys + "/server.key",
		"trusted-ca-file":             etcdKeys + "/ca.crt",
		"client-cert-auth":            "true",
		"peer-cert-file":              etcdKeys + "/peer.crt",
		"peer-key-file":               etcdKeys + "/peer.key",
		"peer-trusted-ca-file":        etcdKeys + "/ca.crt",
		"peer-client-cert-auth":       "true",
		"feature-gates":               "InitialCorruptCheck=true",
		// Upstream's watch cache relies on it.
		"watch-progress-notify-interval": "5s",
	}
	if s.QuotaBytes > 0 {
		flags["quota-backend-bytes"] = strconv.FormatInt(s.QuotaBytes, 10)
	}
	if controlplane.Ephemeral(s) {
		flags["unsafe-no-fsync"] = "true"
	}
	return flags
}

func claim(t plan.AggregatedTier, size resource.Quantity) corev1.PersistentVolumeClaim {
	c := corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
	if t.StorageClass != "" {
		c.Spec.StorageClassName = &t.StorageClass
	}
	return c
}

// podSpec is what the pods of both have in common: they may stand on hosts of
// the control plane, each on another where that can be had.
func podSpec(t plan.AggregatedTier, program string, container corev1.Container) corev1.PodSpec {
	yes, user := true, nobody
	return corev1.PodSpec{
		PriorityClassName: "system-cluster-critical",
		Containers:        []corev1.Container{container},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: &yes, RunAsUser: &user, RunAsGroup: &user, FSGroup: &user,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Tolerations: []corev1.Toleration{{Key: "node-role.kubernetes.io/control-plane", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
				Weight: 100,
				PodAffinityTerm: corev1.PodAffinityTerm{
					LabelSelector: &metav1.LabelSelector{MatchLabels: selects(t, program)}, TopologyKey: corev1.LabelHostname,
				},
			}},
		}},
	}
}

func template(t plan.AggregatedTier, program string, pod corev1.PodSpec) corev1.PodTemplateSpec {
	all := labels(t)
	all[app] = program
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: all}, Spec: pod}
}

func confined() *corev1.SecurityContext {
	yes, no := true, false
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func requests(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}

// secretVolume is for its user's group, which the pod's fsGroup is.
func secretVolume(name, secret string) corev1.Volume {
	mode := int32(0o440)
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: &mode}}}
}

func probe(path, port string, scheme corev1.URIScheme, failures, period int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString(port), Scheme: scheme}},
		TimeoutSeconds:   15,
		FailureThreshold: failures,
		PeriodSeconds:    period,
	}
}
