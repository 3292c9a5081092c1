package check

import (
	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
)

// Warm judges a small cluster and drops the findings. What upstream's code
// builds on first use (codecs, defaulting, the decoders of each type, tables of
// flags, expressions) is then there for the next Check, which would otherwise
// spend most of its time on that. It is for a program that has something else
// to wait for, on another core; the outcome of Check does not depend on it.
func Warm() { _ = warmFindings() }

func warmFindings() []finding.Finding {
	return Check(Input{Files: []file.File{
		{Path: "init.yaml", Data: []byte(warmInit)},
		{Path: "join.yaml", Data: []byte(warmJoin)},
		{Path: "manifests/etcd.yaml", Data: []byte(warmPod)},
		{Path: "patches/kube-apiserver0+json.yaml", Data: []byte("- op: add\n  path: /spec/containers/0/env\n  value: [{name: GOGC, value: \"100\"}]\n")},
	}})
}

const warmInit = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
networking: {serviceSubnet: 10.96.0.0/12, podSubnet: 10.128.0.0/9}
controlPlaneEndpoint: api.example.com:6443
etcd: {local: {extraArgs: [{name: quota-backend-bytes, value: "8589934592"}]}}
apiServer: {extraArgs: [{name: max-requests-inflight, value: "640"}]}
controllerManager: {extraArgs: [{name: kube-api-qps, value: "100"}]}
scheduler: {extraArgs: [{name: v, value: "2"}]}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
nodeRegistration: {name: cp-1}
localAPIEndpoint: {advertiseAddress: 10.0.0.11, bindPort: 6443}
patches: {directory: /etc/kubernetes/patches}
---
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
kubeAPIQPS: 100
`

const warmJoin = `apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
discovery: {file: {kubeConfigPath: /etc/kubernetes/discovery.conf}}
`

const warmPod = `apiVersion: v1
kind: Pod
metadata: {name: etcd-events, namespace: kube-system}
spec:
  hostNetwork: true
  containers:
  - name: etcd
    image: registry.k8s.io/etcd:3.6.8-0
    command: [etcd, --name=cp-1, --data-dir=/var/lib/etcd-events]
    livenessProbe: {httpGet: {path: /livez, port: 2385, host: 127.0.0.1}}
    resources: {requests: {cpu: 100m, memory: 100Mi}}
    volumeMounts: [{name: data, mountPath: /var/lib/etcd-events}]
  volumes: [{name: data, hostPath: {path: /var/lib/etcd-events, type: DirectoryOrCreate}}]
`
