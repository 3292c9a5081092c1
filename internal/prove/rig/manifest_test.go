package rig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/internal/file"
)

const manifest = `apiVersion: v1
kind: Pod
metadata: {name: etcd, namespace: kube-system}
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: 7
  volumes:
  - name: data
    hostPath: {path: /var/lib/etcd, type: DirectoryOrCreate}
  containers:
  - name: etcd
    image: etcd:1
    command: [etcd, --name=$(NAME), --cost=$$(NAME), --other=$(OTHER)]
    args: [--last]
    env:
    - {name: NAME, value: cp-1}
    - {name: GOGC, value: "$(NAME)-x"}
    ports:
    - {name: probe-port, containerPort: 2381}
    volumeMounts:
    - {name: data, mountPath: /data/}
    livenessProbe:
      httpGet: {path: "/livez?exclude=a&exclude=b", port: probe-port, scheme: HTTP}
`

func TestReadPod(t *testing.T) {
	p, err := readPod("cp-1", []byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"etcd", "--name=cp-1", "--cost=$(NAME)", "--other=$(OTHER)", "--last"}, p.argv); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"NAME=cp-1", "GOGC=cp-1-x"}, p.env); diff != "" {
		t.Error(diff)
	}
	if len(p.mounts) != 1 || p.mounts[0] != (mount{inPod: "/data", onHost: "/var/lib/etcd", kind: corev1.HostPathDirectoryOrCreate}) || p.grace != 7 {
		t.Errorf("pod %+v", p)
	}
	live := p.probes.live
	if got := live.url.String(); got != "http://0.0.0.0:2381/livez?exclude=a&exclude=b" || p.probes.ready != nil {
		t.Errorf("probe %s, readiness %v", got, p.probes.ready)
	}
	// The kubelet's defaults.
	if live.failures != 3 || live.period.Seconds() != 10 || live.timeout.Seconds() != 1 || live.delay != 0 {
		t.Errorf("probe %+v", live)
	}
	if got := live.at(testMapping.address).url.Host; got != "127.77.1.1:2381" {
		t.Errorf("the probe asks %s", got)
	}
}

// What the rig cannot do as the manifest says is refused, not left out.
func TestReadPodRefuses(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"kind: Pod", "kind: Node", "is not a Pod"},
		{"hostNetwork: true", "hostNetwork: false", "host's network"},
		{"image: etcd:1", "imag: etcd:1", "unknown field"},
		{"    args: [--last]\n", "    args: [--last]\n  - name: second\n", "one container"},
		{"  containers:\n", "  initContainers: [{name: first}]\n  containers:\n", "one container"},
		{"hostPath: {path: /var/lib/etcd, type: DirectoryOrCreate}", "emptyDir: {}", "paths of the host"},
		{"{name: data, mountPath: /data/}", "{name: other, mountPath: /data/}", "no volume"},
		{"{name: data, mountPath: /data/}", "{name: data, mountPath: /data/, subPath: x}", "subPath"},
		{"value: cp-1}", "valueFrom: {fieldRef: {fieldPath: metadata.name}}}", "plain values"},
		{"port: probe-port", "port: other", "no port named"},
		{`httpGet: {path: "/livez?exclude=a&exclude=b", port: probe-port, scheme: HTTP}`, "exec: {command: [x]}", "httpGet"},
		{"    command: [etcd, --name=$(NAME), --cost=$$(NAME), --other=$(OTHER)]\n", "", "no command"},
	} {
		changed := strings.Replace(manifest, c.from, c.to, 1)
		if changed == manifest {
			t.Fatalf("%q changes nothing", c.from)
		}
		if _, err := readPod("cp-1", []byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in the place of %q: error %v, want %q", c.to, c.from, err, c.want)
		}
	}
}

func TestReadManifests(t *testing.T) {
	m, err := readManifests([]file.File{
		{Path: "manifests/cp-2/etcd.yaml", Data: []byte(manifest)},
		{Path: "manifests/cp-1/etcd.yaml", Data: []byte(manifest)},
		{Path: "manifests-steady/cp-1/etcd.yaml", Data: []byte(manifest)},
		{Path: "scheduler.yaml"}, {Path: "rollout.md"}, {Path: "kubelet/20-seams.conf"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.pods) != 2 || m.pods[0].host != "cp-1" || len(m.steady) != 1 || len(m.configs) != 1 {
		t.Errorf("manifests %+v", m)
	}
	if diff := cmp.Diff([]string{"rollout.md", "kubelet/20-seams.conf"}, m.unused); diff != "" {
		t.Error(diff)
	}
	if _, err := readManifests([]file.File{{Path: "init.yaml"}}); err == nil || !strings.Contains(err.Error(), "no static pods") {
		t.Errorf("error %v", err)
	}
	if _, err := readManifests([]file.File{{Path: "manifests/cp-1/x.yaml", Data: []byte("x")}}); err == nil || !strings.Contains(err.Error(), "manifests/cp-1/x.yaml") {
		t.Errorf("error %v does not name the file", err)
	}
}

// Configuration files refer to paths of the host, which lie elsewhere here;
// what is changed in them is told like a changed flag.
func TestMapConfig(t *testing.T) {
	r := &Rig{dir: t.TempDir(), hosts: []Host{{Name: "cp-1", Rendered: "10.0.0.11", Address: "127.77.1.1"}}}
	f := file.File{Path: "scheduler.yaml", Data: []byte("clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf, qps: 100}\nextenders: [{urlPrefix: \"https://10.0.0.11:8888/x\"}]\n")}
	changes, err := r.config(r.hosts[0], f)
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{What: "scheduler.yaml: clientConnection.kubeconfig", From: "/etc/kubernetes/scheduler.conf", To: r.dir + "/cp-1/etc/kubernetes/scheduler.conf", Why: whyPath},
		{What: "scheduler.yaml: extenders[0].urlPrefix", From: "https://10.0.0.11:8888/x", To: "https://127.77.1.1:8888/x", Why: whyAddress},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
}
