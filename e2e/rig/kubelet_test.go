//go:build rig

package rig_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	authentication "k8s.io/api/authentication/v1"
	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// asProgram, when set, makes this test program seams.
const asProgram = "SEAMS_RIG_TEST_AS_PROGRAM"

// kubelet runs the Pods of one node as processes of this machine: with their
// command, their ConfigMaps as files, and the token of their ServiceAccount. It
// is what a rig lacks of a cluster.
type kubelet struct {
	t        *testing.T
	api      kubernetes.Interface
	config   *rest.Config
	programs map[string][]string // by the first word of a Pod's command
	node     string
	dir      string

	mu      sync.Mutex
	running map[string]*exec.Cmd // by Pod's UID
	wait    sync.WaitGroup
}

// kubelets registers a node and runs its Pods until the test ends.
func startKubelet(t *testing.T, api kubernetes.Interface, config *rest.Config, kwok string) *kubelet {
	t.Helper()
	k := &kubelet{t: t, api: api, config: config, node: "worker-1", dir: t.TempDir(), running: map[string]*exec.Cmd{},
		programs: map[string][]string{"/seams": {os.Args[0]}, "/kwok": {kwok}}}
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("16"), corev1.ResourceMemory: resource.MustParse("64Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	_, err := api.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: k.node, Labels: map[string]string{corev1.LabelHostname: k.node}},
		Status: corev1.NodeStatus{Capacity: size, Allocatable: size,
			NodeInfo:   corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64"},
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now()}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	k.wait.Go(func() { k.renew(ctx) })
	k.wait.Go(func() { k.sync(ctx) })
	t.Cleanup(func() {
		stop()
		k.mu.Lock()
		for _, c := range k.running {
			_ = c.Process.Kill()
		}
		k.mu.Unlock()
		k.wait.Wait()
	})
	return k
}

// renew keeps the node's Lease.
func (k *kubelet) renew(ctx context.Context) {
	leases, seconds := k.api.CoordinationV1().Leases("kube-node-lease"), int32(40)
	for ctx.Err() == nil {
		now := metav1.NowMicro()
		lease := &coordination.Lease{ObjectMeta: metav1.ObjectMeta{Name: k.node}, Spec: coordination.LeaseSpec{HolderIdentity: &k.node, LeaseDurationSeconds: &seconds, RenewTime: &now}}
		if old, err := leases.Get(ctx, k.node, metav1.GetOptions{}); err == nil {
			old.Spec.RenewTime = &now
			_, _ = leases.Update(ctx, old, metav1.UpdateOptions{})
		} else {
			_, _ = leases.Create(ctx, lease, metav1.CreateOptions{})
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

// sync starts Pods that are new and ends those that are deleted.
func (k *kubelet) sync(ctx context.Context) {
	for ctx.Err() == nil {
		pods, err := k.api.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + k.node})
		if err == nil {
			for _, p := range pods.Items {
				k.look(ctx, p)
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func (k *kubelet) look(ctx context.Context, p corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, known := k.running[string(p.UID)]
	switch {
	case p.DeletionTimestamp != nil:
		if c != nil {
			_ = c.Process.Signal(syscall.SIGTERM)
		}
		now := int64(0)
		_ = k.api.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	case known || p.Status.Phase != corev1.PodPending:
	default:
		c, err := k.command(ctx, p)
		if err != nil {
			k.t.Logf("Pod %s: %v", p.Name, err)
			return // tried again
		}
		var out bytes.Buffer
		c.Stdout, c.Stderr = &out, &out
		c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := c.Start(); err != nil {
			k.t.Errorf("Pod %s: %v", p.Name, err)
			return
		}
		k.running[string(p.UID)] = c
		k.wait.Go(func() { k.follow(ctx, p, c, &out) })
	}
}

// follow tells the API how a Pod does.
func (k *kubelet) follow(ctx context.Context, p corev1.Pod, c *exec.Cmd, out *bytes.Buffer) {
	container := p.Spec.Containers[0].Name
	k.status(ctx, p, corev1.PodRunning, corev1.ContainerStatus{Name: container, Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}})
	err := c.Wait()
	phase, ended := corev1.PodSucceeded, &corev1.ContainerStateTerminated{ExitCode: int32(c.ProcessState.ExitCode()), FinishedAt: metav1.Now()}
	if err != nil {
		phase = corev1.PodFailed
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		ended.Message = strings.Join(lines[max(0, len(lines)-5):], "\n")
		k.t.Logf("Pod %s ended with %v: %s", p.Name, err, ended.Message)
	}
	if denied := strings.Count(out.String(), "forbidden"); denied > 0 {
		lines := slices.DeleteFunc(strings.Split(out.String(), "\n"), func(l string) bool { return !strings.Contains(l, "forbidden") })
		k.t.Errorf("Pod %s was denied something %d times: %s", p.Name, denied, lines[0])
	}
	k.status(ctx, p, phase, corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Terminated: ended}})
}

func (k *kubelet) status(ctx context.Context, p corev1.Pod, phase corev1.PodPhase, c corev1.ContainerStatus) {
	now, ready := metav1.Now(), corev1.ConditionFalse
	if phase == corev1.PodRunning {
		ready = corev1.ConditionTrue
	}
	p.Status = corev1.PodStatus{Phase: phase, StartTime: &now, ContainerStatuses: []corev1.ContainerStatus{c},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: now}}}
	p.ResourceVersion = ""
	_, _ = k.api.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, &p, metav1.UpdateOptions{})
}

// command is what a Pod's container runs, with paths of this machine.
func (k *kubelet) command(ctx context.Context, p corev1.Pod) (*exec.Cmd, error) {
	c, dir := p.Spec.Containers[0], filepath.Join(k.dir, string(p.UID))
	argv := slices.Concat(c.Command, c.Args)
	program, ok := k.programs[argv[0]]
	if !ok {
		return nil, fmt.Errorf("no program for %q", argv[0])
	}
	for _, m := range c.VolumeMounts {
		i := slices.IndexFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if p.Spec.Volumes[i].ConfigMap == nil {
			continue // the token, which the kubeconfig has
		}
		from, err := k.api.CoreV1().ConfigMaps(p.Namespace).Get(ctx, p.Spec.Volumes[i].ConfigMap.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Join(dir, m.Name), 0o700); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(from.Data)) {
			if err := os.WriteFile(filepath.Join(dir, m.Name, name), []byte(from.Data[name]), 0o600); err != nil {
				return nil, err
			}
		}
		for j := range argv {
			argv[j] = strings.ReplaceAll(argv[j], m.MountPath+"/", filepath.Join(dir, m.Name)+"/")
		}
	}
	kubeconfig, err := k.kubeconfig(ctx, p, dir)
	if err != nil {
		return nil, err
	}
	full := slices.Concat(program, argv[1:], []string{"--kubeconfig=" + kubeconfig})
	cmd := exec.Command(full[0], full[1:]...)
	cmd.Env = []string{asProgram + "=1", "HOME=" + dir}
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			key := strings.TrimSuffix(strings.TrimPrefix(e.ValueFrom.FieldRef.FieldPath, "metadata.annotations['"), "']")
			value = p.Annotations[key]
		}
		cmd.Env = append(cmd.Env, e.Name+"="+value)
	}
	return cmd, nil
}

// kubeconfig has the identity of the Pod's ServiceAccount and nothing else.
func (k *kubelet) kubeconfig(ctx context.Context, p corev1.Pod, dir string) (string, error) {
	token, err := k.api.CoreV1().ServiceAccounts(p.Namespace).CreateToken(ctx, p.Spec.ServiceAccountName, &authentication.TokenRequest{
		Spec: authentication.TokenRequestSpec{BoundObjectRef: &authentication.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID}},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	c := clientcmdapi.NewConfig()
	c.Clusters["c"] = &clientcmdapi.Cluster{Server: k.config.Host, CertificateAuthorityData: k.config.CAData}
	c.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	c.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	c.CurrentContext = "x"
	at := filepath.Join(dir, "kubeconfig")
	return at, clientcmd.WriteToFile(*c, at)
}
