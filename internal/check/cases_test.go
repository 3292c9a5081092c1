package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

var newest = target.Target{Kubernetes: target.Version{Major: 1, Minor: 37, Patch: 2}, Platform: target.Kubeadm}

func minor(n int) target.Target {
	t := newest
	t.Kubernetes = target.Version{Major: 1, Minor: n, Patch: 0}
	return t
}

// one judges a single file.
func one(t target.Target, name, text string) []finding.Finding {
	return Check(Input{Files: []file.File{{Path: name, Data: []byte(text)}}, Target: t})
}

// brief writes findings as LINE SEVERITY CODE.
func brief(findings []finding.Finding) []string {
	var out []string
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%d %s %s", f.Line, f.Severity, f.Code))
	}
	return out
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const inputs = "../../e2e/cases/inputs"

// TestCases judges files that users have written, line by line.
func TestCases(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"01-v1beta3-map.yaml":           {"1 error kubeadm-old-api"},
		"02-v1beta4-map.yaml":           {"5 error kubeadm-args-map"},
		"03-v1beta4-unknown-field.yaml": {"4 error unknown-field"},
		"04-v1beta4-indent.yaml":        {"6 error unknown-field"},
		"05-dup-args.yaml": {
			"7 warning probe-tied-to-store", "7 warning route-store-elsewhere", "7 warning route-store-elsewhere",
			"9 warning route-store-elsewhere",
		},
		"06-local-and-external.yaml":     {"4 error kubeadm-invalid"},
		"07-external-no-ca.yaml":         {"5 error kubeadm-invalid"},
		"08-value-bool.yaml":             {"5 error wrong-type"},
		"09-dash-names.yaml":             {"5 error kubeadm-invalid", "6 error flag-leading-dashes"},
		"10-v1-experimental.yaml":        {"1 error kubeadm-experimental-api"},
		"11-kubelet-unknown.yaml":        {"7 error unknown-field"},
		"12-kubelet-dupes-case.yaml":     {"4 error unknown-field", "9 error duplicate-field"},
		"13-metadata.yaml":               {"3 error unknown-field"},
		"14-override-bad-sep.yaml":       {"7 error override-comma-between-servers", "8 error flag-unknown"},
		"15-two-clusterconfig.yaml":      {"5 error kubeadm-kind-twice"},
		"16-old-etcd-args-map.yaml":      {"6 error kubeadm-args-map"},
		"17-timeoutForControlPlane.yaml": {"5 error unknown-field"},
	}
	names, err := filepath.Glob(inputs + "/[0-9]*.yaml")
	if err != nil || len(names) != len(want) {
		t.Fatalf("%d inputs, want %d (%v)", len(names), len(want), err)
	}
	for _, name := range names {
		base := filepath.Base(name)
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			got := one(newest, base, readFile(t, name))
			if diff := cmp.Diff(want[base], brief(got)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, got)
			}
		})
	}
}

// TestFixes: the fix of a finding says what to write.
func TestFixes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"02-v1beta4-map.yaml":           `- {name: etcd-servers-overrides, value: "/events#https://10.0.0.21:2379"}`,
		"03-v1beta4-unknown-field.yaml": "apiServer.extraArgs",
		"04-v1beta4-indent.yaml":        "apiServer.extraArgs",
		"12-kubelet-dupes-case.yaml":    "controlPlaneEndpoint",
		"14-override-bad-sep.yaml":      `"/events#https://10.0.0.21:2379;https://10.0.0.22:2379"`,
		"16-old-etcd-args-map.yaml":     `- {name: quota-backend-bytes, value: "8589934592"}`,
	} {
		got := one(newest, name, readFile(t, filepath.Join(inputs, name)))
		if len(got) == 0 || !strings.Contains(got[0].Fix, want) {
			t.Errorf("%s: no fix with %q in %v", name, want, got)
		}
	}
}

// TestKindCase: of two arguments with one name kind keeps the last.
func TestKindCase(t *testing.T) {
	t.Parallel()
	got := one(minor(36), "kind.yaml", readFile(t, inputs+"/kind-dup.yaml"))
	if !slices.Contains(brief(got), "14 error kind-duplicate-args") {
		t.Errorf("%v", got)
	}
}

// documents of the kinds that are only judged here, one fault each.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file string
		target     target.Target
		text       string
		want       []string
	}{
		{"gate locked", "c.yaml", minor(36), "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\napiServer:\n  extraArgs:\n  - {name: feature-gates, value: \"BtreeWatchCache=false\"}\n", []string{"6 error gate-locked"}},
		{"gate without effect", "c.yaml", minor(36), "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\napiServer:\n  extraArgs:\n  - {name: feature-gates, value: \"kube:BtreeWatchCache=true\"}\n", []string{"6 info gate-no-effect"}},
		{"gate deprecated", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: feature-gates, value: \"AllowInsecureKubeletCertificateSigningRequests=true\"}\n", []string{"6 warning gate-deprecated"}},
		{"gate of another component", "a.yaml", newest, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  hostNetwork: true\n  containers:\n  - name: a\n    image: i\n    command: [kube-scheduler, --feature-gates=ControllerManagerReleaseLeaderElectionLockOnExit=true]\n", []string{"9 error gate-unknown"}},
		{"no seats", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: max-requests-inflight, value: \"0\"}\n  - {name: max-mutating-requests-inflight, value: \"0\"}\n", []string{"6 error inflight-zero"}},
		{"fewer than no seats", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: max-requests-inflight, value: \"-1\"}\n", []string{"6 error inflight-negative"}},
		{"goaway with one", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: goaway-chance, value: \"0.001\"}\n", []string{"6 error goaway-single-apiserver"}},
		{"events are off already", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: watch-cache-sizes, value: \"events#0\"}\n", []string{"6 info watch-cache-off-already"}},
		{"reviews have no cache", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: watch-cache-sizes, value: \"tokenreviews.authentication.k8s.io#0\"}\n", []string{"6 error watch-cache-unknown-resource"}},
		{"custom cache", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: watch-cache-sizes, value: \"workflows.argoproj.io#0\"}\n", nil},
		{"in a shell", "a.yaml", newest, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  hostNetwork: true\n  containers:\n  - name: a\n    image: i\n    command: [/bin/sh, -c, \"exec kube-apiserver --nonsense\"]\n", []string{"9 warning command-in-shell"}},
		{"no value", "a.yaml", newest, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  hostNetwork: true\n  containers:\n  - name: a\n    image: i\n    command: [kube-scheduler, --config]\n", []string{"9 error flag-value-missing"}},
		{"value in the next word", "a.yaml", newest, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  hostNetwork: true\n  containers:\n  - name: a\n    image: i\n    command: [kube-scheduler, --kube-api-burst, many, --v, \"2\", --profiling]\n", []string{"9 error flag-value"}},
		{"not ours to judge", "a.yaml", newest, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  hostNetwork: true\n  containers:\n  - name: a\n    image: i\n    command: [haproxy, --nonsense]\n", nil},
		{"patches that are elsewhere", "init.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint: {advertiseAddress: 10.0.0.11}\npatches: {directory: /etc/p}\n", []string{"4 warning patches-missing"}},
		{"too big", "a.yaml", newest, strings.Repeat("#", maxBytes+1), []string{"0 error file-too-big"}},
		{"gate alpha", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: feature-gates, value: \"ShardedListAndWatch=true\"}\n", []string{"6 info gate-alpha"}},
		{"flag of another version", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\netcd:\n  local:\n    extraArgs:\n    # gone in etcd 3.7\n    - {name: experimental-initial-corrupt-check, value: \"true\"}\n", []string{"8 error flag-not-in-version"}},
		{"space in a value", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - {name: external-hostname, value: \"https://a \"}\n", []string{"6 warning flag-value-space"}},
		{"validity", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\ncertificateValidityPeriod: 20000h\n", []string{"4 warning kubeadm-certificate-validity"}},
		{"kind image", "kind.yaml", newest, "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- image: kindest/node:v1.36.1@sha256:0\ncontainerdConfigPatches: [\"a=1\"]\n", []string{"4 warning kind-image-version", "5 warning unjudged-field"}},
		{"old api served", "c.yaml", minor(36), "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\napiServer:\n  extraArgs:\n    event-ttl: \"0\"\n    nonsense: x\n", []string{"1 warning kubeadm-old-api", "6 error event-ttl-zero", "7 error flag-unknown"}},
		{"old api with a list", "c.yaml", minor(36), "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\napiServer:\n  extraArgs:\n  - {name: v, value: \"2\"}\n", []string{"1 warning kubeadm-old-api", "5 error kubeadm-args-list"}},
		{"old api with a new field", "c.yaml", minor(36), "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\nencryptionAlgorithm: RSA-2048\n", []string{"1 warning kubeadm-old-api", "4 error unknown-field"}},
		{"old api with an unknown field", "c.yaml", minor(36), "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\nfoo: bar\n", []string{"1 warning kubeadm-old-api", "4 error unknown-field"}},
		{"older api", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta2\nkind: ClusterConfiguration\n", []string{"1 error kubeadm-old-api"}},
		{"unknown kind of kubeadm", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: Clusterconfiguration\n", []string{"2 error unknown-kind"}},
		{"version by label", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n", []string{"1 warning kubeadm-version-label"}},
		{"other version", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.1\n", []string{"3 error kubeadm-version-differs"}},
		{"no version", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: newest\n", []string{"3 error kubeadm-invalid"}},
		{"upgrade without its kind", "upgrade.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\n", []string{"2 error kubeadm-upgrade-ignores"}},
		{"etcd-servers by hand", "c.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\napiServer:\n  extraArgs:\n  - name: etcd-servers\n    value: https://10.0.0.11:2379\n  - name: enable-admission-plugins\n    value: PodNodeSelector\n", []string{"7 error kubeadm-etcd-servers", "9 warning kubeadm-replaces-own"}},
		{"join", "join.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration:\n  name: Bad_Name\ndiscovery:\n  file: {kubeConfigPath: /etc/kubernetes/discovery.conf}\n", []string{"4 error kubeadm-invalid"}},
		{"kubelet flag of join", "join.yaml", newest, "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration:\n  kubeletExtraArgs:\n  - {name: v, value: loud}\ndiscovery:\n  file: {kubeConfigPath: /etc/kubernetes/discovery.conf}\n", []string{"5 error flag-value"}},
		{"kubelet gate", "k.yaml", newest, "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nfeatureGates:\n  NoSuchGate: true\n", []string{"4 error gate-unknown"}},
		{"kubelet status", "k.yaml", newest, "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nnodeStatusUpdateFrequency: 10s\n", []string{"3 warning kubelet-status-report"}},
		{"kubelet negative", "k.yaml", newest, "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nkubeAPIQPS: -1\nnodeLeaseDurationSeconds: -5\n", []string{"3 error kubelet-invalid", "4 error kubelet-invalid"}},
		{"lease slower than grace", "k.yaml", newest, "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nnodeLeaseDurationSeconds: 160\n", []string{"3 error lease-misses-grace"}},
		{"kube-proxy", "p.yaml", newest, "apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmod: nftables\n", []string{"3 error unknown-field"}},
		{"scheduler", "s.yaml", newest, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nclientConnection: {qps: 200, burst: 400}\n", nil},
		{"scheduler field", "s.yaml", newest, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nclientConnection: {QPS: 200}\n", []string{"3 error unknown-field"}},
		{"scheduler value", "s.yaml", newest, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: -1\n", []string{"3 error scheduler-invalid"}},
		{"unjudged", "x.yaml", newest, "apiVersion: example.com/v1\nkind: Thing\n", []string{"1 warning unjudged-document"}},
		{"no kind", "x.yaml", newest, "a: 1\n", []string{"1 warning unjudged-document"}},
		{"a list", "x.yaml", newest, "- a\n", []string{"1 warning unjudged-document"}},
		{"syntax", "x.yaml", newest, "# one\na: 1\n\tb: 2\n", []string{"2 error yaml-syntax"}},
		{"second document", "x.yaml", newest, "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: A}\n", []string{"7 error object-invalid"}},
		{"service", "x.yaml", newest, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports: [{port: 99999, targetPort: 1}]\n", []string{"5 error object-invalid"}},
		{"deployment", "x.yaml", newest, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: c}}\n    spec:\n      containers:\n      - name: s\n        image: i\n        command: [kube-apiserver, --foo=1]\n", []string{"7 error object-invalid", "12 error flag-unknown"}},
		{"role binding", "x.yaml", newest, "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: a}\nroleRef: {kind: Role, name: b}\nsubjects: [{kind: User}]\n", []string{"5 error object-invalid"}},
		{"apiservice", "x.yaml", newest, "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.example.com}\nspec:\n  group: example.com\n  version: v1\n  service: {name: a, namespace: b}\n  caBundle: aGk=\n  groupPriorityMinimum: 1000\n  versionPriority: 10\n", nil},
		{"apiservice name", "x.yaml", newest, "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: example}\nspec:\n  group: example.com\n  version: v1\n  insecureSkipTLSVerify: true\n  service: {name: a, namespace: b}\n  groupPriorityMinimum: 0\n  versionPriority: 10\n", []string{"3 error apiservice-invalid", "7 warning apiservice-insecure", "9 error apiservice-invalid"}},
		{"crd name", "x.yaml", newest, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: thing}\nspec:\n  group: example.com\n  scope: Cluster\n  names: {plural: things, kind: Thing}\n  versions:\n  - {name: v1, served: true, storage: false}\n", []string{"3 error object-invalid", "8 error object-invalid"}},
		{"kubeconfig", "a.conf", newest, "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: \"https://x\"}}]\ncontexts:\n- {name: c, context: {cluster: b}}\ncurrent-context: d\n", []string{"5 error kubeconfig-invalid", "6 error kubeconfig-invalid"}},
		{"not ours", "10-kubeadm.conf", newest, "[Service]\nEnvironment=A=b\n", nil},
		{"kind field", "kind.yaml", newest, "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnods: []\n", []string{"3 error unknown-field"}},
		{"kind role", "kind.yaml", newest, "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: worker\n- role: master\n", []string{"3 error kind-invalid", "5 error kind-invalid"}},
		{"kind mount", "kind.yaml", newest, "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- extraMounts:\n  - {hostPath: manifests/a.yaml, containerPath: /etc/kubernetes/manifests/a.yaml}\n", []string{"5 error kind-mount-missing"}},
		{"kind other patch", "kind.yaml", minor(36), "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nkubeadmConfigPatches:\n- |\n  apiVersion: kubeadm.k8s.io/v1beta3\n  kind: ClusterConfiguration\n", []string{"5 error kind-patch-unused"}},
		{"kind newer patch", "kind.yaml", minor(35), "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nkubeadmConfigPatches:\n- |\n  apiVersion: kubeadm.k8s.io/v1beta4\n  kind: ClusterConfiguration\n", []string{"5 error kind-patch-unused"}},
		{"kind list for a map", "kind.yaml", minor(35), "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nkubeadmConfigPatches:\n- |\n  kind: ClusterConfiguration\n  apiServer:\n    extraArgs:\n    - {name: v, value: \"2\"}\n", []string{"7 error kubeadm-args-list"}},
		{"kind map for a list", "kind.yaml", minor(36), "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nkubeadmConfigPatches:\n- |\n  kind: ClusterConfiguration\n  apiServer:\n    extraArgs:\n      v: loud\n", []string{"8 error flag-value"}},
		{"kind unknown field of a patch", "kind.yaml", newest, "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nkubeadmConfigPatches:\n- |\n  kind: ClusterConfiguration\n  apiserver: {}\n", []string{"6 error unknown-field"}},
		{"kind patch of nothing", "kind.yaml", newest, "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nkubeadmConfigPatches:\n- |\n  kind: Clusterconfiguration\n", []string{"5 error kind-patch-unused"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := one(tc.target, tc.file, tc.text)
			if diff := cmp.Diff(tc.want, brief(got)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, got)
			}
		})
	}
}
