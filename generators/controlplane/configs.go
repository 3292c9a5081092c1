package controlplane

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	componentbase "k8s.io/component-base/config/v1alpha1"
	scheduler "k8s.io/kube-scheduler/config/v1"
	kubelet "k8s.io/kubelet/config/v1beta1"

	"github.com/kubeseams/seams/internal/plan"
)

// SchedulerConfigVolume is the volume that brings scheduler.yaml into the pod.
const SchedulerConfigVolume = "seams-scheduler"

// SchedulerConfig is the scheduler's configuration file, or nil when the plan
// leaves its client limits alone: as flags they are ignored once --config is
// given and deprecated without. --kubeconfig is one of the flags so ignored,
// and is therefore repeated here.
func SchedulerConfig(p *plan.Plan) *scheduler.KubeSchedulerConfiguration {
	if p.Scheduler.QPS == 0 && p.Scheduler.Burst == 0 {
		return nil
	}
	elect := true
	return &scheduler.KubeSchedulerConfiguration{
		TypeMeta: metav1.TypeMeta{APIVersion: scheduler.SchemeGroupVersion.String(), Kind: "KubeSchedulerConfiguration"},
		ClientConnection: componentbase.ClientConnectionConfiguration{
			Kubeconfig: schedulerKubeconfig,
			QPS:        float32(p.Scheduler.QPS),
			Burst:      int32(p.Scheduler.Burst),
		},
		LeaderElection: componentbase.LeaderElectionConfiguration{LeaderElect: &elect},
	}
}

// KubeletConfig are the plan's fields of KubeletConfiguration, or nil when it
// has none.
func KubeletConfig(p *plan.Plan) *kubelet.KubeletConfiguration {
	k := p.Kubelet
	if k == (plan.Kubelet{}) {
		return nil
	}
	config := &kubelet.KubeletConfiguration{
		TypeMeta:                  metav1.TypeMeta{APIVersion: kubelet.SchemeGroupVersion.String(), Kind: "KubeletConfiguration"},
		NodeLeaseDurationSeconds:  int32(k.NodeLeaseDurationSeconds),
		NodeStatusUpdateFrequency: seconds(k.NodeStatusUpdateSeconds),
		NodeStatusReportFrequency: seconds(k.NodeStatusReportSeconds),
		KubeAPIBurst:              int32(k.KubeAPIBurst),
		EventBurst:                int32(k.EventBurst),
		MaxPods:                   int32(k.MaxPods),
	}
	if k.KubeAPIQPS > 0 {
		config.KubeAPIQPS = pointer(int32(k.KubeAPIQPS))
	}
	if k.EventRecordQPS > 0 {
		config.EventRecordQPS = pointer(int32(k.EventRecordQPS))
	}
	if k.NodeStatusUpdateSeconds > 0 && k.NodeStatusReportSeconds == 0 {
		// With only the update frequency set, the kubelet takes it for the
		// report frequency too and writes every node's status at that rate.
		config.NodeStatusReportFrequency = metav1.Duration{Duration: 5 * time.Minute}
	}
	return config
}

func seconds(n int) metav1.Duration { return metav1.Duration{Duration: time.Duration(n) * time.Second} }

func pointer[T any](v T) *T { return &v }
