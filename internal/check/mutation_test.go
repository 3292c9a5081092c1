package check

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
)

const good = "testdata/good"

// load reads a directory of rendered files.
func load(t testing.TB, root string) []file.File {
	t.Helper()
	var files []file.File
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		files = append(files, file.File{Path: filepath.ToSlash(rel), Data: data})
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", root, len(files), err)
	}
	return files
}

// TestGood: what is right has no finding that would stop it.
func TestGood(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"kubeadm-ha-events-leases", "kubeadm-node-tier-ephemeral", "staticpod-ha-events-leases", "kind-ha-events-leases"} {
		if got := Check(Input{Files: load(t, filepath.Join(good, root)), Target: newest}); finding.AtLeast(got, finding.Warning) {
			t.Errorf("%s: %v", root, got)
		}
	}
}

// mutation breaks one file of good output; the finding has to be in the file
// at, which is the broken one when empty.
type mutation struct {
	root, file, old, new string
	code, at             string
}

const (
	ha     = "kubeadm-ha-events-leases"
	tiers  = "kubeadm-node-tier-ephemeral"
	static = "staticpod-ha-events-leases"
	kindHA = "kind-ha-events-leases"
	probes = "patches/kube-apiserver0+json.yaml"
	etcd1  = "manifests/cp-1/etcd-events.yaml"
	leases = "manifests/cp-1/etcd-leases.yaml"
	tier1  = "manifests/cp-1/kube-apiserver-nodes.yaml"
	api1   = "manifests/cp-1/kube-apiserver.yaml"
	kcm1   = "manifests/cp-1/kube-controller-manager.yaml"
)

// The routes of the tiers, and the same in another order.
const (
	eventsRoute   = "/events#https://10.0.0.11:2383;https://10.0.0.12:2383;https://10.0.0.13:2383"
	leasesRoute   = "coordination.k8s.io/leases#https://10.0.0.11:2386;https://10.0.0.12:2386;https://10.0.0.13:2386"
	tierRoutes    = eventsRoute + "," + leasesRoute
	swappedRoutes = leasesRoute + "," + eventsRoute
)

var mutations = []mutation{
	// kubeadm's own codec and validation.
	{ha, "init.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration", "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration", "kubeadm-old-api", ""},
	{ha, "init.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration", "apiVersion: kubeadm.k8s.io/v1\nkind: InitConfiguration", "kubeadm-experimental-api", ""},
	{ha, "init.yaml", "apiServer:", "apiserver:", "unknown-field", ""},
	{ha, "init.yaml", "  extraEnvs:", "extraEnvs:", "unknown-field", ""},
	{ha, "init.yaml", `value: "320"`, "value: 320", "wrong-type", ""},
	{ha, "init.yaml", "podSubnet: 10.244.0.0/16", "podSubnet: 10.244.0.0", "kubeadm-invalid", ""},
	{ha, "init.yaml", "controlPlaneEndpoint: api.shop.example.com:6443", "controlPlaneEndpoint: https://api", "kubeadm-invalid", ""},
	{ha, "init.yaml", "advertiseAddress: 10.0.0.11", "advertiseAddress: cp-1", "kubeadm-invalid", ""},
	{ha, "init.yaml", "kubernetesVersion: v1.37.2", "kubernetesVersion: v1.36.3", "kubeadm-version-differs", ""},
	{ha, "init.yaml", "kubernetesVersion: v1.37.2", "kubernetesVersion: stable-1", "kubeadm-version-label", ""},
	{ha, "init.yaml", "kind: InitConfiguration", "kind: ClusterConfiguration", "kubeadm-kind-twice", ""},
	{ha, "join-cp-2.yaml", "kind: JoinConfiguration", "kind: Joinconfiguration", "unknown-kind", ""},
	{ha, "join-cp-2.yaml", "name: cp-2", "name: CP_2", "kubeadm-invalid", ""},
	{ha, "upgrade.yaml", "kind: UpgradeConfiguration", "kind: UpgradeConfiguration\nmetadata: {}", "unknown-field", ""},
	{ha, "upgrade.yaml", "directory: /etc", "directory: etc", "kubeadm-invalid", ""},
	// flags and gates.
	{ha, "init.yaml", "name: max-requests-inflight", "name: max-request-inflight", "flag-unknown", ""},
	{ha, "init.yaml", "name: max-requests-inflight", "name: --max-requests-inflight", "flag-leading-dashes", ""},
	{ha, "init.yaml", "value: 150s", `value: "150"`, "flag-value", ""},
	{ha, "init.yaml", "value: 150s", `value: "150s "`, "flag-value", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: default-watch-cache-size\n    value: \"200\"", "flag-deprecated", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: event-ttl\n    value: 0s", "event-ttl-zero", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: goaway-chance\n    value: \"0.5\"", "goaway-chance-range", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: feature-gates\n    value: BtreeWatchCache=false", "gate-not-in-version", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: feature-gates\n    value: ShardedListAndWach=true", "gate-unknown", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: feature-gates\n    value: ShardedListAndWatch", "flag-value", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: watch-cache-sizes\n    value: pods#0", "watch-cache-off-hot", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: watch-cache-sizes\n    value: endpointslices.discovery.k8s.io#0", "watch-cache-off-hot", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: watch-cache-sizes\n    value: leases.coordination.k8s.io#500", "watch-cache-size-ignored", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: watch-cache-sizes\n    value: coordination.k8s.io/leases#0", "watch-cache-unknown-resource", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: watch-cache-sizes\n    value: leases#0", "watch-cache-unknown-resource", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: watch-cache-sizes\n    value: leases.coordination.k8s.io", "watch-cache-size-syntax", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: max-requests-inflight\n    value: \"1\"", "flag-repeated", ""},
	{ha, "init.yaml", "name: etcd-compaction-interval\n    value: 150s", "name: etcd-servers\n    value: https://10.0.0.11:2379", "kubeadm-etcd-servers", ""},
	{ha, "init.yaml", "name: kube-api-burst\n    value: \"500\"", "name: node-monitor-grace-period\n    value: 12s", "lease-misses-grace", ""},
	{ha, "init.yaml", "name: kube-api-burst\n    value: \"500\"", "name: node-monitor-grace-period\n    value: 40s", "grace-below-ping-timeout", ""},
	{ha, "init.yaml", "name: quota-backend-bytes\n      value: \"8589934592\"", "name: quota-backend-bytes\n      value: 8GiB", "flag-value", ""},
	{ha, etcd1, "--quota-backend-bytes=4294967296", "--quota-backend-byte=4294967296", "flag-unknown", ""},
	{ha, etcd1, "InitialCorruptCheck=true", "InitialCorruptChecks=true", "gate-unknown", ""},
	{ha, etcd1, "InitialCorruptCheck=true", "InitialCorruptCheck", "flag-value", ""},
	{ha, etcd1, "etcd:3.7.0-0", "etcd:3.5.21-0", "flags-not-checked", ""},
	{static, api1, "- --secure-port=6443", "- --secure-port\n    - 6443x", "flag-value", ""},
	{static, api1, "- --secure-port=6443", "- secure-port=6443", "flag-stray-argument", ""},
	{static, kcm1, "- --leader-elect=true", "- --leader-elect=yes", "flag-value", ""},
	{static, kcm1, "- --leader-elect=true", "- --feature-gates=AllAlpha=maybe", "flag-value", ""},
	// overrides and what stands behind them.
	{ha, "init.yaml", ";https://10.0.0.12:2383", ",https://10.0.0.12:2383", "override-comma-between-servers", ""},
	{ha, "init.yaml", "coordination.k8s.io/leases#", "/leases#", "override-wrong-group", ""},
	{ha, "init.yaml", "coordination.k8s.io/leases#", "example.com/leases#", "override-custom-resource", ""},
	{ha, "init.yaml", "https://10.0.0.12:2386", "https://10.0.0.12:2387", "route-without-store", ""},
	{ha, "init.yaml", "https://10.0.0.12:2386", "http://10.0.0.12:2386", "route-scheme-differs", ""},
	{ha, etcd1, "2383", "2393", "route-without-store", "init.yaml"},
	{tiers, tier1, "/events#https://10.0.0.11:2383;", "/events#https://10.0.0.12:2383;", "overrides-differ", ""},
	{tiers, tier1, tierRoutes, swappedRoutes, "overrides-order", ""},
	{static, api1, "--etcd-servers=https://10.0.0.11:2379,https://10.0.0.12:2379,https://10.0.0.13:2379", "--etcd-servers=https://10.0.0.12:2379", "etcd-servers-incomplete", ""},
	{tiers, "init.yaml", "name: etcd-servers-overrides", "name: etcd-prefix", "overrides-differ", tier1},
	{tiers, tier1, "--etcd-servers=https://127.0.0.1:2379", "--etcd-servers=https://127.0.0.1:2479", "etcd-server-not-here", ""},
	{tiers, tier1, "    - --etcd-cafile=/etc/kubernetes/pki/etcd/ca.crt\n", "", "etcd-tls-missing", ""},
	{ha, etcd1, "--trusted-ca-file=/etc/kubernetes/pki/etcd/ca.crt", "--trusted-ca-file=/etc/kubernetes/pki/etcd-events/ca.crt", "etcd-ca-differs", ""},
	{ha, etcd1, "--trusted-ca-file=/etc/kubernetes/pki/etcd/ca.crt", "--trusted-ca-file=/etc/etcd/ca.crt", "file-not-mounted", ""},
	{ha, etcd1, "--initial-cluster=cp-1=https", "--initial-cluster=cp-9=https", "etcd-not-in-cluster", ""},
	{ha, "manifests/cp-3/etcd-events.yaml", ",cp-3=https://10.0.0.13:2384", ",cp-3=https://10.0.0.13:2384,cp-4=https://10.0.0.14:2384", "etcd-even-members", etcd1},
	{ha, leases, "--initial-cluster-token=shop-leases", "--initial-cluster-token=shop-events", "etcd-token-shared", ""},
	{ha, etcd1, "mountPath: /var/lib/etcd-events", "mountPath: /var/lib/events", "data-dir-not-mounted", ""},
	// what may be on a host only once.
	{ha, leases, "2386", "2383", "port-conflict", ""},
	{ha, etcd1, "2385", "2381", "port-conflict", ""},
	{tiers, tier1, "--secure-port=7443", "--secure-port=6443", "port-conflict", ""},
	{ha, leases, "/var/lib/etcd-leases", "/var/lib/etcd-events", "data-dir-conflict", ""},
	{ha, leases, "/var/lib/etcd-leases", "/var/lib/etcd/leases", "data-dir-conflict", ""},
	{ha, leases, "name: etcd-leases", "name: etcd-events", "pod-name-conflict", ""},
	{ha, leases, "name: etcd-leases", "name: etcd", "pod-name-conflict", ""},
	{ha, etcd1, "component: etcd-events", "component: etcd", "kubeadm-labels", ""},
	{tiers, tier1, "component: kube-apiserver-nodes", "component: kube-apiserver", "kubeadm-labels", ""},
	// probes.
	{tiers, probes, "value: /livez?exclude=etcd-override-0&exclude=etcd-override-1", "value: /livez?exclude=etcd-override-0", "probe-tied-to-store", "init.yaml"},
	{tiers, probes, "exclude=etcd-override-1\n", "exclude=etcd-override-2\n", "probe-excludes-nothing", "init.yaml"},
	{tiers, tier1, "path: /livez?exclude=etcd-override-0&exclude=etcd-override-1", "path: /livez", "probe-tied-to-store", ""},
	{ha, etcd1, "port: probe-port", "port: probe", "probe-port-unknown", ""},
	// patches.
	{ha, probes, "/spec/containers/0/livenessProbe", "/spec/containers/0/liveProbe", "patch-does-not-apply", ""},
	{ha, probes, "op: replace", "op: substitute", "patch-does-not-apply", ""},
	{ha, probes, "/httpGet/path\n  value: /livez?exclude=etcd-override-0", "/httpGet/path\n  value: 7", "patch-result-invalid", ""},
	{ha, "init.yaml", "patches:\n  directory: /etc/kubernetes/seams/patches\n", "", "patches-not-used", ""},
	{ha, "join-cp-2.yaml", "patches:\n  directory: /etc/kubernetes/seams/patches\n", "", "patches-not-used", ""},
	// pods and other documents.
	{ha, etcd1, "kind: Pod", "kind: Pode", "unjudged-document", ""},
	{ha, etcd1, "hostNetwork: true", "hostNetwork: \"true\"", "wrong-type", ""},
	{ha, etcd1, "hostNetwork: true", "hostnetwork: true", "unknown-field", ""},
	{ha, etcd1, "  name: etcd-events\n", "  name: etcd_events\n", "pod-invalid", ""},
	{ha, etcd1, "    image: registry.k8s.io/etcd:3.7.0-0\n", "", "pod-invalid", ""},
	{ha, etcd1, "name: etcd-data\n      mountPath", "name: etcd-dat\n      mountPath", "pod-invalid", ""},
	{ha, etcd1, "hostNetwork: true", "hostNetwork: true\n  serviceAccountName: a", "static-pod-reference", ""},
	{ha, "scheduler.yaml", "kind: KubeSchedulerConfiguration", "kind: KubeSchedulerConfiguration\nparallelism: -2", "scheduler-invalid", ""},
	{ha, "init.yaml", "kubeAPIQPS: 100", "kubeAPIQps: 100", "unknown-field", ""},
	{ha, "init.yaml", "kubeAPIQPS: 100", "nodeLeaseDurationSeconds: 200", "lease-misses-grace", ""},
	{ha, "init.yaml", "mountPath: /etc/kubernetes/seams/scheduler.yaml", "mountPath: /etc/kubernetes/seams/sched.yaml", "file-not-mounted", ""},
	// kind.
	{kindHA, "kind.yaml", "networking:", "network:", "unknown-field", ""},
	{kindHA, "kind.yaml", "role: worker", "role: minion", "kind-invalid", ""},
	{kindHA, "kind.yaml", "podSubnet: 10.244.0.0/16", "podSubnet: 10.244/16", "kind-invalid", ""},
	{kindHA, "kind.yaml", "hostPath: manifests/shop-control-plane/etcd-events.yaml", "hostPath: manifests/shop-control-plane/etcd-event.yaml", "kind-mount-missing", ""},
	{kindHA, "kind.yaml", "  kind: ClusterConfiguration", "  apiVersion: kubeadm.k8s.io/v1beta3\n  kind: ClusterConfiguration", "kind-patch-unused", ""},
	{kindHA, "kind.yaml", "name: etcd-compaction-interval\n      value: 150s", "name: max-requests-inflight\n      value: \"5\"", "kind-duplicate-args", ""},
	{kindHA, "kind.yaml", "https://shop-control-plane2:2386", "https://shop-control-plane2:2389", "route-without-store", ""},
	{kindHA, "kind.yaml", "kubeAPIQPS: 100", "kubeApiQPS: 100", "unknown-field", ""},
	{kindHA, "kind.yaml", "name: kube-api-qps", "name: kube-api-qpss", "flag-unknown", ""},
	{kindHA, probes, "exclude=etcd-override-0\n", "exclude=etcd-override-3\n", "probe-excludes-nothing", "kind.yaml"},
}

// TestMutations breaks good output in many ways, each of which has to be found
// where it is.
func TestMutations(t *testing.T) {
	t.Parallel()
	for _, m := range mutations {
		t.Run(m.root+"/"+m.file+"/"+m.new, func(t *testing.T) {
			t.Parallel()
			files := load(t, filepath.Join(good, m.root))
			i := slices.IndexFunc(files, func(f file.File) bool { return f.Path == m.file })
			if i < 0 {
				t.Fatalf("no file %s", m.file)
			}
			text := string(files[i].Data)
			if !strings.Contains(text, m.old) {
				t.Fatalf("%s has no %q", m.file, m.old)
			}
			files[i].Data = []byte(strings.ReplaceAll(text, m.old, m.new))
			at := m.at
			if at == "" {
				at = m.file
			}
			got := Check(Input{Files: files, Target: newest})
			found := slices.ContainsFunc(got, func(f finding.Finding) bool {
				return f.Code == m.code && f.File == at && f.Severity >= finding.Warning
			})
			if !found {
				t.Errorf("no %s in %s:\n%s", m.code, at, strings.Join(lineUp(got), "\n"))
			}
		})
	}
}

func lineUp(findings []finding.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, f.String())
	}
	return out
}

// TestPatchNames: kubeadm takes the target and the type from the file's name.
func TestPatchNames(t *testing.T) {
	t.Parallel()
	const pod = "metadata: {annotations: {a: b}}\n"
	for name, want := range map[string]string{
		"kube-apiserver.yaml":                 "",
		"kube-apiserver0+strategic.yaml":      "",
		"kube-apiserver0+merge.json":          "",
		"kube-apiserver.yml":                  "patch-name-extension",
		"kube-apiserver":                      "patch-name-extension",
		"apiserver0+merge.yaml":               "patch-name-target",
		"kube-apiserver0+.yaml":               "patch-name-type",
		"kube-apiserver0+stragetic.yaml":      "patch-name-type",
		"etcd-events.yaml":                    "patch-name-suffix",
		"README.md":                           "",
		"kubeletconfiguration0+merge.yaml":    "",
		"kubeletconfiguration+strategic.yaml": "",
	} {
		files := load(t, filepath.Join(good, ha))
		files = append(files, file.File{Path: "patches/" + name, Data: []byte(pod)})
		if strings.HasPrefix(name, "kubelet") {
			files[len(files)-1].Data = []byte("maxPods: 200\n")
		}
		var codes []string
		for _, f := range Check(Input{Files: files, Target: newest}) {
			codes = append(codes, f.Code)
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestPatchedPods applies patches that kubeadm takes and that do harm.
func TestPatchedPods(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, text, code string }{
		{"kube-apiserver1+strategic.yaml", "spec:\n  containers:\n  - name: kube-apiserver\n    command: [--etcd-servers-overrides=/events#https://10.0.0.11:2383]\n", "patch-replaces-command"},
		{"kube-apiserver1+strategic.yaml", "spec:\n  containers:\n  - name: kube-apiserver\n    args: [--v=2]\n", "patch-sets-args"},
		{"kube-apiserver1+strategic.yaml", "spec:\n  containers:\n  - name: kube-apiserver\n    args: [--vv=2]\n", "flag-unknown"},
		{"kube-apiserver1+strategic.yaml", "spec:\n  containers:\n  - name: apiserver\n    image: x\n", "patch-adds-container"},
		{"kube-apiserver1+json.yaml", "- {op: add, path: /spec/containers/0/command/-, value: --no-such=1}\n", "flag-unknown"},
		{"kube-apiserver1+json.yaml", "- {op: add, path: /spec/hostnetwork, value: true}\n", "patch-result-invalid"},
		{"kube-apiserver1+json.yaml", "op: add\n", "patch-does-not-apply"},
		{"etcd1+json.yaml", "- {op: add, path: /spec/containers/0/command/-, value: --listen-metrics-urls=http://127.0.0.1:2385}\n", "flag-repeated"},
		{"kube-scheduler+strategic.yaml", "spec: {hostNetwork: 5}\n", "patch-result-invalid"},
		{"kubeletconfiguration1+strategic.yaml", "maxpods: 5\n", "patch-result-invalid"},
		{"kubeletconfiguration1+json.yaml", "- {op: remove, path: /nothing}\n", "patch-does-not-apply"},
	} {
		files := append(load(t, filepath.Join(good, ha)), file.File{Path: "patches/" + tc.name, Data: []byte(tc.text)})
		got := Check(Input{Files: files, Target: newest})
		i := slices.IndexFunc(got, func(f finding.Finding) bool { return f.Code == tc.code && f.File == "patches/"+tc.name })
		if i < 0 {
			t.Errorf("%s %q: no %s in %v", tc.name, tc.text, tc.code, got)
		} else if m := got[i].Message; strings.Contains(m, ": :") || strings.ContainsRune(m, '\n') {
			t.Errorf("%s %q: %q", tc.name, tc.text, m)
		}
		alone := []file.File{{Path: "patches/" + tc.name, Data: []byte(tc.text)}}
		if tc.code == "flag-repeated" {
			continue // without a configuration nothing is known of kubeadm's own flag
		}
		if got := Check(Input{Files: alone, Target: newest}); !slices.ContainsFunc(got, func(f finding.Finding) bool { return f.Code == tc.code }) {
			t.Errorf("%s alone: no %s in %v", tc.name, tc.code, got)
		}
	}
}

// TestServerOrder: the order of one store's servers makes no difference.
func TestServerOrder(t *testing.T) {
	t.Parallel()
	files := load(t, filepath.Join(good, tiers))
	i := slices.IndexFunc(files, func(f file.File) bool { return f.Path == tier1 })
	files[i].Data = []byte(strings.Replace(string(files[i].Data), leasesRoute,
		"coordination.k8s.io/leases#https://10.0.0.13:2386;https://10.0.0.12:2386;https://10.0.0.11:2386", 1))
	if got := Check(Input{Files: files, Target: newest}); finding.AtLeast(got, finding.Warning) {
		t.Errorf("%v", got)
	}
}
