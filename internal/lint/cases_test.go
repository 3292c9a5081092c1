package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/target"
)

const inputs = "../../e2e/cases/inputs"

// TestInputs lints files that users have written, all of them in one run: what
// is wrong with one must not show in another, nor hide it.
func TestInputs(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(inputs + "/*.yaml")
	if err != nil || len(names) < 19 {
		t.Fatalf("%d inputs (%v)", len(names), err)
	}
	files := tree{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(data)
	}
	want := []string{
		"01-v1beta3-map.yaml:1 error kubeadm-old-api",
		"02-v1beta4-map.yaml:5 error kubeadm-args-map",
		"03-v1beta4-unknown-field.yaml:4 error unknown-field",
		"04-v1beta4-indent.yaml:6 error unknown-field",
		"05-dup-args.yaml:7 warning probe-tied-to-store",
		"06-local-and-external.yaml:4 error kubeadm-invalid",
		"06-local-and-external.yaml:8 warning etcd-servers-incomplete",
		"07-external-no-ca.yaml:5 error kubeadm-invalid",
		"07-external-no-ca.yaml:6 warning etcd-servers-incomplete",
		"08-value-bool.yaml:5 error wrong-type",
		"09-dash-names.yaml:5 error kubeadm-invalid",
		"09-dash-names.yaml:6 error flag-leading-dashes",
		"10-v1-experimental.yaml:1 error kubeadm-experimental-api",
		"11-kubelet-unknown.yaml:7 error unknown-field",
		"12-kubelet-dupes-case.yaml:4 error unknown-field",
		"12-kubelet-dupes-case.yaml:9 error duplicate-field",
		"13-metadata.yaml:3 warning unknown-field",
		"14-override-bad-sep.yaml:7 error override-comma-between-servers",
		"14-override-bad-sep.yaml:8 error flag-unknown",
		"15-two-clusterconfig.yaml:5 error kubeadm-kind-twice",
		"16-old-etcd-args-map.yaml:6 error kubeadm-args-map",
		"17-timeoutForControlPlane.yaml:5 error unknown-field",
		"kind-dup.yaml:13 warning probe-tied-to-store",
		"kind-dup.yaml:14 error kind-duplicate-args",
	}
	r := run(t, files, Input{})
	var got []string
	for _, line := range brief(r.Findings) {
		if !strings.HasPrefix(line, "kops.yaml") {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, full(r.Findings))
	}
	for _, code := range []string{"9 error kops-overrides-replaced", "15 error kops-field-unknown", "19 error kops-etcd-mixed-versions", "20 error kops-etcd-timing", "21 error kops-etcd-even", "24 error kops-etcd-name"} {
		if !strings.Contains(strings.Join(brief(r.Findings), "\n"), "kops.yaml:"+code) {
			t.Errorf("kops.yaml: no %s", code)
		}
	}
}

const v4 = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.2\n"

// v is a minor version.
func v(minor int) target.Version { return target.Version{Major: 1, Minor: minor, Patch: -1} }

// kindOf makes a kind Cluster with one patch.
func kindOf(image, patch string) string {
	return "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: control-plane\n  image: kindest/node:" + image + "\nkubeadmConfigPatches:\n- |\n  " + strings.ReplaceAll(strings.TrimSpace(patch), "\n", "\n  ") + "\n"
}

// TestCases are single files by the number of their case, with all that is
// right to say of them.
func TestCases(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file, text string
		in               Input
		want             []string // LINE SEVERITY CODE
	}{
		{"8 liveness beside 3 members", "k.yaml", v4 + "apiServer:\n  extraArgs:\n  - {name: etcd-servers-overrides, value: \"/events#https://a:2379;https://b:2379;https://c:2379\"}\n", Input{}, []string{}},
		{"11 given twice", "a.flags", "--etcd-servers-overrides=/events#https://10.0.0.21:2379\n--etcd-servers-overrides=coordination.k8s.io/leases#https://10.0.0.22:2379\n", Input{}, []string{}},
		{"11 given twice for one resource", "a.flags", "--etcd-servers-overrides=/events#https://10.0.0.21:2379\n--etcd-servers-overrides=/events#https://10.0.0.22:2379\n", Input{}, []string{"2 error override-duplicate"}},
		{"12 no certificates for a shard", "a.flags", "--advertise-address=10.0.0.11\n--etcd-servers=http://10.0.0.11:2379\n--etcd-servers-overrides=/events#https://10.0.0.21:2379\n", Input{}, []string{"3 error etcd-tls-missing"}},
		{"14 one member below kubeadm's probe", "k.yaml", v4 + "apiServer:\n  extraArgs:\n  - {name: etcd-servers-overrides, value: \"/events#https://a:2379\"}\n", Input{}, []string{"6 warning probe-tied-to-store"}},
		{"15 external etcd, one member", "k.yaml", v4 + "etcd:\n  external:\n    endpoints: [\"https://10.0.0.11:2379\"]\n", Input{}, []string{"6 warning etcd-servers-incomplete"}},
		{"15 stacked", "k.yaml", v4, Input{}, []string{}},
		{"16 still read by 1.36", "k.yaml", "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.1\napiServer:\n  extraArgs:\n    event-ttl: 30m\n", Input{}, []string{"1 warning kubeadm-old-api"}},
		{"16 older still, where it was read", "k.yaml", "apiVersion: kubeadm.k8s.io/v1beta2\nkind: ClusterConfiguration\nkubernetesVersion: v1.22.0\n", Input{}, []string{"1 warning kubeadm-old-api"}},
		{"16 older still, where it is not", "k.yaml", "apiVersion: kubeadm.k8s.io/v1beta2\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.0\n", Input{}, []string{"1 error kubeadm-old-api"}},
		{"16 not there before 1.31", "k.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.30.4\n", Input{}, []string{"1 error kubeadm-newer-api", "1 warning flags-not-checked"}},
		{"18 list in v1beta3", "k.yaml", "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: v1.30.0\napiServer:\n  extraArgs:\n  - {name: event-ttl, value: 30m}\n", Input{}, []string{"1 warning kubeadm-old-api", "5 error kubeadm-args-list"}},
		{"21 a flag of another program", "k.yaml", v4 + "apiServer:\n  extraArgs:\n  - {name: node-monitor-grace-period, value: 50s}\n", Input{}, []string{"6 error flag-unknown"}},
		{"22 what kubeadm sets itself", "k.yaml", v4 + "apiServer:\n  extraArgs:\n  - {name: etcd-servers, value: \"https://10.0.0.11:2379\"}\n  - {name: enable-admission-plugins, value: PodNodeSelector}\n", Input{}, []string{"6 error kubeadm-etcd-servers", "7 warning kubeadm-replaces-own"}},
		{"24 allowed", "k.yaml", "apiVersion: kubeadm.k8s.io/v1\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.0\napiServer:\n  extraArgs:\n  - name: enable-admission-plugins\n    value: \",PodNodeSelector\"\n    mergeMethod: append\n", Input{Experimental: true}, []string{}},
		{"24 merged with nothing", "k.yaml", "apiVersion: kubeadm.k8s.io/v1\nkind: ClusterConfiguration\nkubernetesVersion: v1.37.0\napiServer:\n  extraArgs:\n  - name: etcd-servers-overrides\n    value: \"/events#https://a:2379\"\n    mergeMethod: append\n", Input{Experimental: true}, []string{"8 error kubeadm-merge-ignored"}},
		{"26a older patch", "kind.yaml", kindOf("v1.36.1", "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration"), Input{}, []string{"8 error kind-patch-unused"}},
		{"26b newer patch", "kind.yaml", kindOf("v1.32.2", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration"), Input{}, []string{"8 error kind-patch-unused"}},
		{"26c list for a mapping", "kind.yaml", kindOf("v1.35.0", "kind: ClusterConfiguration\napiServer:\n  extraArgs:\n  - {name: v, value: \"2\"}"), Input{}, []string{"10 error kubeadm-args-list"}},
		{"28 by its name", "upgrade.yaml", v4, Input{}, []string{"2 error kubeadm-upgrade-ignores"}},
		{"28 by the user's word", "k.yaml", v4, Input{Upgrade: true}, []string{"2 error kubeadm-upgrade-ignores"}},
		{"28 as it should be", "k.yaml", "apiVersion: kubeadm.k8s.io/v1beta4\nkind: UpgradeConfiguration\napply: {patches: {directory: /etc/kubernetes/patches}}\n", Input{Upgrade: true}, []string{}},
		{"29 whole command", "patches/kube-apiserver+strategic.yaml", "spec:\n  containers:\n  - name: kube-apiserver\n    command: [\"--etcd-servers-overrides=/events#https://a:2379\"]\n", Input{}, []string{"4 error patch-replaces-command"}},
		{"29 appended", "patches/kube-apiserver0+json.yaml", "- op: add\n  path: /spec/containers/0/command/-\n  value: \"--event-ttl=30m\"\n", Input{}, []string{}},
		{"29 arguments", "patches/kube-apiserver+strategic.yaml", "spec:\n  containers:\n  - name: kube-apiserver\n    args: [\"--event-ttl=30m\"]\n", Input{}, []string{"4 warning patch-sets-args"}},
		{"30 extension", "patches/kube-apiserver.yml", "spec: {}\n", Input{}, []string{"0 error patch-name-extension"}},
		{"30 target", "patches/apiserver0+merge.yaml", "spec: {}\n", Input{}, []string{"0 error patch-name-target"}},
		{"30 type", "patches/kube-apiserver0+.yaml", "spec: {}\n", Input{}, []string{"0 error patch-name-type"}},
		{"30 another pod", "patches/etcd-events.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: etcd-events}\n", Input{}, []string{"0 error patch-name-suffix"}},
		{"30 container", "patches/kube-apiserver0+strategic.yaml", "spec:\n  containers:\n  - name: apiserver\n    image: a\n", Input{}, []string{"2 error patch-adds-container"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tree{tc.file: tc.text}, tc.in)
			got := brief(r.Findings)
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], tc.file+":")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, full(r.Findings))
			}
		})
	}
}

const kopsCluster = `apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata:
  name: big.example.internal
spec:
  cloudProvider: CLOUD
  kubernetesVersion: 1.36.2
  topology: {dns: {type: DNS}}
  etcdClusters:
  - {name: main, etcdMembers: [{name: a, instanceGroup: cp-a}]}
  - {name: events, etcdMembers: [{name: a, instanceGroup: cp-a}]}
`

// kopsOf makes a Cluster.
func kopsOf(cloud, dns, more string) string {
	return strings.NewReplacer("CLOUD", cloud, "DNS", dns).Replace(kopsCluster) + more
}

const apiserverGroup = `apiVersion: kops.k8s.io/v1alpha2
kind: InstanceGroup
metadata:
  name: apiserver
  labels: {kops.k8s.io/cluster: big.example.internal}
spec:
  role: APIServer
  minSize: 3
  maxSize: 3
`

// TestKopsCases: what is right to find, among whatever else a Cluster as short
// as these lacks.
func TestKopsCases(t *testing.T) {
	t.Parallel()
	leases := "  - {name: leases, etcdMembers: [{name: a, instanceGroup: cp-a}]}\n"
	flag := "+APIServerNodes"
	for _, tc := range []struct {
		name       string
		files      tree
		in         Input
		want, none string
	}{
		{"34 overrides", tree{"c.yaml": kopsOf("aws", "Private", "  kubeAPIServer:\n    etcdServersOverrides: [\"coordination.k8s.io/leases#https://10.0.0.31:2379\"]\n")}, Input{}, "c.yaml:13 error kops-overrides-replaced", ""},
		{"34 repeated", tree{"c.yaml": kopsOf("aws", "Private", "  kubeAPIServer:\n    etcdServersOverrides: [\"coordination.k8s.io/leases#https://10.0.0.31:2379\", \"/events#https://127.0.0.1:4002\"]\n")}, Input{}, "", "kops-overrides-replaced"},
		{"35 leases before 1.36", tree{"c.yaml": kopsOf("aws", "Private", leases)}, Input{Kops: v(35)}, "c.yaml:12 error kops-leases-before-1.36", ""},
		{"35 leases from 1.36", tree{"c.yaml": kopsOf("aws", "Private", leases)}, Input{Kops: v(36)}, "", ":12 error"},
		{"36 any shard", tree{"c.yaml": kopsOf("aws", "Private", "  - {name: workflows, etcdMembers: [{name: a, instanceGroup: cp-a}]}\n")}, Input{}, "c.yaml:12 error kops-etcd-name", ""},
		{"37 even", tree{"c.yaml": strings.Replace(kopsOf("aws", "Private", ""), "events, etcdMembers: [", "events, etcdMembers: [{name: b, instanceGroup: cp-b}, ", 1)}, Input{}, "c.yaml:11 error kops-etcd-even", ""},
		{"37 versions", tree{"c.yaml": strings.NewReplacer("name: main", "name: main, version: 3.5.21", "name: events", "name: events, version: 3.6.4").Replace(kopsOf("aws", "Private", ""))}, Input{}, "c.yaml:11 error kops-etcd-mixed-versions", ""},
		{"41a gce before 1.36", tree{"c.yaml": kopsOf("gce", "Private", ""), "ig.yaml": apiserverGroup}, Input{Kops: v(35), KopsFeatureFlags: flag}, "ig.yaml:7 error kops-apiserver-role", ""},
		{"41b aws without dns", tree{"c.yaml": kopsOf("aws", "None", ""), "ig.yaml": apiserverGroup}, Input{Kops: v(36), KopsFeatureFlags: flag}, "ig.yaml:7 error kops-apiserver-role", ""},
		{"41c gce without dns", tree{"c.yaml": kopsOf("gce", "None", ""), "groups/ig.yaml": apiserverGroup}, Input{Kops: v(36), KopsFeatureFlags: flag}, "groups/ig.yaml:7 error kops-apiserver-role", ""},
		{"41 allowed", tree{"c.yaml": kopsOf("gce", "Private", ""), "groups/ig.yaml": apiserverGroup}, Input{Kops: v(36), KopsFeatureFlags: flag}, "", "kops-apiserver-"},
		{"41d flag", tree{"c.yaml": kopsOf("aws", "Private", ""), "ig.yaml": apiserverGroup}, Input{Kops: v(36)}, "ig.yaml:7 warning kops-apiserver-flag", "kops-apiserver-role"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tc.files, tc.in)
			text := strings.Join(brief(r.Findings), "\n")
			if !strings.Contains(text, tc.want) || tc.none != "" && strings.Contains(text, tc.none) {
				t.Errorf("want %q, and no %q:\n%s", tc.want, tc.none, full(r.Findings))
			}
		})
	}
}
