package cluster

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"
)

// localConfig is written beside the rendered configuration: kind resolves the
// host paths of mounts from the directory it runs in.
const localConfig = "kind-local.yaml"

// adapt writes the rendered configuration with what this machine needs, and
// says what the cluster is called. Nothing of the plan is changed:
//   - nftables: kube-proxy's default needs modules that a small kernel lacks
//   - failCgroupV1: since Kubernetes 1.35 kubelet refuses a host of cgroup v1
//   - no default CNI, when the image has none: wire makes the network
func adapt(dir string, ownNetwork, cgroupV1 bool) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, "kind.yaml"))
	if err != nil {
		return "", fmt.Errorf("read the rendered configuration: %w", err)
	}
	var config v1alpha4.Cluster
	if err := yaml.UnmarshalStrict(data, &config); err != nil {
		return "", fmt.Errorf("decode kind.yaml: %w", err)
	}
	config.Networking.KubeProxyMode = "nftables"
	config.Networking.DisableDefaultCNI = ownNetwork
	if cgroupV1 {
		config.KubeadmConfigPatches = append(config.KubeadmConfigPatches, "kind: KubeletConfiguration\nfailCgroupV1: false\n")
	}
	data, err = yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("write %s: %w", localConfig, err)
	}
	if err := os.WriteFile(filepath.Join(dir, localConfig), data, 0o644); err != nil {
		return "", fmt.Errorf("write the configuration for this machine: %w", err)
	}
	return config.Name, nil
}

// onCgroupV1 reports whether the host mounts the old hierarchies; it is never
// remounted for a test.
func onCgroupV1() bool {
	_, err := os.Stat("/sys/fs/cgroup/cgroup.controllers")
	return os.IsNotExist(err)
}
