package kops

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/target"
)

func kopsTarget(t testing.TB, version, cloud string) target.Target {
	t.Helper()
	v, err := target.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return target.Target{Platform: target.Kops, Kops: v, Cloud: cloud}
}

func check(t testing.TB, text, version, cloud string) []finding.Finding {
	t.Helper()
	return Check(Input{
		Files:  []file.File{{Path: "cluster.yaml", Data: []byte(text)}},
		Target: kopsTarget(t, version, cloud),
	})
}

// brief writes findings as "LINE severity code path", which a table can hold.
func brief(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s %s", f.Line, f.Severity, f.Code, f.Path)))
	}
	return out
}

func TestTroubledStream(t *testing.T) {
	text, err := os.ReadFile("testdata/troubled.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := check(t, string(text), "1.35.2", "gce")
	want := []string{
		"6 error kops-network spec.subnets",
		"6 warning kops-cloud spec.cloudProvider",
		"9 error kops-overrides-replaced spec.kubeAPIServer.etcdServersOverrides",
		"11 error kops-field-unknown spec.kubeAPIServer.defaultWatchCacheSize",
		"12 warning kops-zero-not-passed spec.kubeAPIServer.maxMutatingRequestsInflight",
		"13 error kops-field-type spec.kubeAPIServer.goawayChance",
		"15 error kops-field-unknown spec.kubeControllerManager.concurrentGCSyncs",
		"16 error kops-field-type spec.kubeControllerManager.concurrentDeploymentSyncs",
		"21 error kops-field-unknown spec.etcdClusters[0].etcdMembers[0].volumeIOPS",
		"25 error kops-etcd-mixed-versions spec.etcdClusters[1].version",
		"26 error kops-etcd-timing spec.etcdClusters[1].heartbeatInterval",
		"27 error kops-etcd-even spec.etcdClusters[1].etcdMembers",
		"27 error kops-etcd-member-missing spec.etcdClusters[1].etcdMembers",
		"27 error kops-etcd-member-missing spec.etcdClusters[1].etcdMembers",
		"28 error kops-etcd-member spec.etcdClusters[1].etcdMembers[0]",
		"28 error kops-field-unknown spec.etcdClusters[1].etcdMembers[0].instancegroup",
		"30 error kops-etcd-name spec.etcdClusters[2].name",
		"31 error kops-etcd-member-missing spec.etcdClusters[2].etcdMembers",
		"31 error kops-etcd-member-missing spec.etcdClusters[2].etcdMembers",
		"41 error kops-apiserver-role spec.role",
		"41 warning kops-apiserver-flag spec.role",
		"47 error kops-field-unknown spec.kubelet.kubeAPIBurst",
		"48 error kops-field-unknown spec.rootVolume",
	}
	if diff := cmp.Diff(want, brief(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for path, fix := range map[string]string{
		"spec.etcdClusters[0].etcdMembers[0].volumeIOPS":       `did you mean "volumeIops"?`,
		"spec.etcdClusters[1].etcdMembers[0].instancegroup":    `did you mean "instanceGroup"?`,
		"spec.kubeAPIServer.goawayChance":                      `write it in quotes: "0.001"`,
		"spec.kubeControllerManager.concurrentDeploymentSyncs": "write it without quotes",
		"spec.kubeControllerManager.concurrentGCSyncs":         "remove it: kOps passes only the flags on that it has a field for",
		"spec.rootVolume":                         "use spec.rootVolumeSize, rootVolumeType, rootVolumeIops and their like",
		"spec.kubeAPIServer.etcdServersOverrides": "use an etcdClusters entry instead of the list (leases from kOps 1.36), or repeat /events#https://127.0.0.1:4002 in it",
	} {
		i := slices.IndexFunc(got, func(f finding.Finding) bool { return f.Path == path })
		if i < 0 || got[i].Fix != fix {
			t.Errorf("%s: fix is %q, want %q", path, got[max(i, 0)].Fix, fix)
		}
	}
}

// sound is a cluster that kOps takes; the markers are where tests put more.
const sound = `apiVersion: kops.k8s.io/v1alpha2
kind: Cluster
metadata:
  creationTimestamp: null
  name: a.example.com
spec:
  api:
    loadBalancer:
      type: Public
  channel: stable
  cloudProvider: aws
  etcdClusters:
  - etcdMembers:
    - instanceGroup: control-plane-a
      name: a
    name: main
  - etcdMembers:
    - instanceGroup: control-plane-a
      name: a
    name: events
  iam:
    allowContainerRegistry: true
  kubelet:
    anonymousAuth: false
  kubernetesVersion: 1.33.4
  networkCIDR: 172.20.0.0/16
  nonMasqueradeCIDR: 100.64.0.0/10
  subnets:
  - name: us-east-1a
    type: Public
    zone: us-east-1a
  #cluster
---
apiVersion: kops.k8s.io/v1alpha2
kind: InstanceGroup
metadata:
  name: control-plane-a
  labels:
    kops.k8s.io/cluster: a.example.com
spec:
  maxSize: 1
  minSize: 1
  role: Master
  subnets:
  - us-east-1a
  #group
---
apiVersion: kops.k8s.io/v1alpha2
kind: SSHCredential
metadata:
  name: admin
spec:
  publicKey: ssh-ed25519 AAAA
`

func TestSoundClusterHasNoFindings(t *testing.T) {
	for _, version := range []string{"1.34.3", "1.35.2", "1.36.2"} {
		for name, text := range map[string]string{"unix": sound, "windows": strings.ReplaceAll(sound, "\n", "\r\n")} {
			if fs := check(t, text, version, ""); len(fs) > 0 {
				t.Errorf("kOps %s, %s: %v", version, name, fs)
			}
		}
	}
}

// TestRules changes the sound cluster and names what must be found, and nothing else.
func TestRules(t *testing.T) {
	leases := replace("    name: events\n", "    name: events\n  - etcdMembers:\n    - instanceGroup: control-plane-a\n      name: a\n    name: leases\n")
	apiservers := after("---\napiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nmetadata:\n  name: apiservers\n  labels: {kops.k8s.io/cluster: a.example.com}\nspec:\n  role: APIServer\n  subnets: [us-east-1a]\n")
	gce := all(replace("cloudProvider: aws", "cloudProvider: gce"), replace("  networkCIDR: 172.20.0.0/16\n", ""), replace("    zone: us-east-1a", "    region: us-east-1"))
	dnsNone := inCluster("topology: {dns: {type: None}}")
	tests := []struct {
		name, version string
		change        change
		want          []string
	}{
		{"leases shard", "1.36.0", leases, nil},
		{"leases shard before 1.36", "1.35.2", leases, []string{"error kops-leases-before-1.36 spec.etcdClusters[2].name"}},
		{"own overrides that repeat kOps'", "1.36.2", inCluster(`kubeAPIServer: {etcdServersOverrides: ["/events#https://127.0.0.1:4002"]}`), nil},
		{"own overrides without leases", "1.36.2", all(leases, inCluster(`kubeAPIServer: {etcdServersOverrides: ["/events#https://127.0.0.1:4002"]}`)),
			[]string{"error kops-overrides-replaced spec.kubeAPIServer.etcdServersOverrides"}},
		{"events elsewhere", "1.36.2", inCluster(`kubeAPIServer: {etcdServersOverrides: ["/events#https://10.0.0.9:2379"]}`),
			[]string{"warning kops-override-elsewhere spec.kubeAPIServer.etcdServersOverrides[0]"}},
		{"events by http beside leases", "1.36.2", all(leases, inCluster(`kubeAPIServer: {etcdServersOverrides: ["/events#http://127.0.0.1:4002", "coordination.k8s.io/leases#https://127.0.0.1:4004"]}`)),
			[]string{"warning kops-etcd-events-http spec.kubeAPIServer.etcdServersOverrides[0]"}},
		{"own servers", "1.36.2", inCluster(`kubeAPIServer: {etcdServers: ["https://10.0.0.9:2379"]}`), []string{"warning kops-etcd-servers-replaced spec.kubeAPIServer.etcdServers"}},
		{"loopback on an APIServer group", "1.36.2", all(apiservers, inCluster(`kubeAPIServer: {etcdServersOverrides: ["/events#https://127.0.0.1:4002", "/pods#https://127.0.0.1:2399"]}`)),
			[]string{"warning kops-apiserver-flag spec.role", "error kops-override-loopback spec.kubeAPIServer.etcdServersOverrides[1]"}},
		{"comma between servers", "1.36.2", inCluster(`kubeAPIServer: {etcdServersOverrides: ["/events#https://127.0.0.1:4002", "/pods#https://10.0.0.7:2379,https://10.0.0.8:2379"]}`),
			[]string{"error override-comma-between-servers spec.kubeAPIServer.etcdServersOverrides[1]"}},
		{"override of a custom resource", "1.36.2", inCluster(`kubeAPIServer: {etcdServersOverrides: ["/events#https://127.0.0.1:4002", "argoproj.io/workflows#https://10.0.0.7:2379"]}`),
			[]string{"error override-custom-resource spec.kubeAPIServer.etcdServersOverrides"}},
		{"even members", "1.36.2", replace("      name: a\n    name: events", "      name: a\n    - {name: b, instanceGroup: control-plane-a}\n    name: events"),
			[]string{"error kops-etcd-even spec.etcdClusters[1].etcdMembers", "warning kops-etcd-member spec.etcdClusters[1].etcdMembers[1].instanceGroup"}},
		{"no members", "1.36.2", replace("  - etcdMembers:\n    - instanceGroup: control-plane-a\n      name: a\n    name: events", "  - name: events"),
			[]string{"error kops-etcd-even spec.etcdClusters[1].etcdMembers", "error kops-etcd-member-missing spec.etcdClusters[1].etcdMembers"}},
		{"mixed versions", "1.36.2", all(replace("name: main", "name: main\n    version: 3.6.12"), replace("name: events", "name: events\n    version: 3.5.21")),
			[]string{"error kops-etcd-mixed-versions spec.etcdClusters[1].version"}},
		{"version on one", "1.36.2", replace("name: events", "name: events\n    version: 3.5.21"), []string{"error kops-etcd-mixed-versions spec.etcdClusters[1].version"}},
		{"version of etcd 2", "1.36.2", replace("name: main", "name: main\n    version: 2.2.1"), []string{"error kops-etcd-version spec.etcdClusters[0].version"}},
		{"no main", "1.36.2", replace("name: main", "name: cilium"), []string{"error kops-etcd-no-main spec.etcdClusters"}},
		{"twice", "1.36.2", replace("name: main", "name: events"), []string{"error kops-etcd-duplicate spec.etcdClusters[1].name", "error kops-etcd-no-main spec.etcdClusters"}},
		{"member elsewhere", "1.36.2", replace("instanceGroup: control-plane-a\n      name: a\n    name: events", "instanceGroup: etcd-a\n      name: a\n    name: events"),
			[]string{"error kops-etcd-member-missing spec.etcdClusters[0].etcdMembers", "error kops-etcd-member-missing spec.etcdClusters[1].etcdMembers", "error kops-etcd-no-group spec.etcdClusters[1].etcdMembers"}},
		{"election timeout", "1.36.2", replace("name: main", "name: main\n    leaderElectionTimeout: 2s"), []string{"error kops-etcd-timing spec.etcdClusters[0].leaderElectionTimeout"}},
		{"quota", "1.36.2", replace("name: main", "name: main\n    manager: {env: [{name: ETCD_QUOTA_BACKEND_BYTES, value: \"8589934592\"}]}"), nil},
		{"quota with a suffix", "1.36.2", replace("name: main", "name: main\n    manager: {env: [{name: ETCD_QUOTA_BACKEND_BYTES, value: 8Gi}]}"), []string{"error kops-etcd-env spec.etcdClusters[0].manager.env[0].value"}},
		{"quota as a number", "1.36.2", replace("name: main", "name: main\n    manager: {env: [{name: ETCD_QUOTA_BACKEND_BYTES, value: 8589934592}]}"),
			[]string{"error kops-etcd-env spec.etcdClusters[0].manager.env[0].value", "error kops-field-type spec.etcdClusters[0].manager.env[0].value"}},
		{"control plane of three", "1.36.2", replace("maxSize: 1", "maxSize: 3"), []string{"error kops-group-size spec.maxSize"}},
		{"sizes turned round", "1.36.2", all(replace("maxSize: 1", "maxSize: 0")), []string{"error kops-group-size spec.maxSize"}},
		{"no label", "1.36.2", replace("    kops.k8s.io/cluster: a.example.com\n", ""), []string{"error kops-cluster-label metadata.labels"}},
		{"unknown subnet", "1.36.2", replace("  - us-east-1a\n", "  - us-east-1b\n"), []string{"error kops-group-subnet spec.subnets[0]"}},
		{"role of the future", "1.36.2", replace("role: Master", "role: Etcd"), []string{"error kops-role spec.role"}},
		{"role written the other way", "1.36.2", replace("role: Master", "role: ControlPlane"), nil},
		{"apiservers on aws", "1.34.3", apiservers, []string{"warning kops-apiserver-flag spec.role"}},
		{"apiservers on gce, 1.35", "1.35.2", all(gce, apiservers), []string{"error kops-apiserver-role spec.role", "warning kops-apiserver-flag spec.role"}},
		{"apiservers on gce, 1.36", "1.36.2", all(gce, apiservers), []string{"warning kops-apiserver-flag spec.role"}},
		{"apiservers on aws without dns", "1.36.2", all(apiservers, dnsNone), []string{"error kops-apiserver-role spec.role", "warning kops-apiserver-flag spec.role"}},
		{"apiservers on gce without dns", "1.36.0", all(gce, apiservers, dnsNone), []string{"error kops-apiserver-role spec.role", "warning kops-apiserver-flag spec.role"}},
		{"apiservers and leases without dns", "1.36.2", all(apiservers, dnsNone, leases),
			[]string{"error kops-apiserver-role spec.role", "error kops-leases-not-resolved spec.role", "warning kops-apiserver-flag spec.role"}},
		{"since", "1.35.2", inCluster("kubeAPIServer: {compactionInterval: 150s}"), []string{"error kops-field-unknown spec.kubeAPIServer.compactionInterval"}},
		{"duration", "1.36.2", inCluster("kubeAPIServer: {compactionInterval: \"150\"}"), []string{"error kops-field-type spec.kubeAPIServer.compactionInterval"}},
		{"goaway", "1.36.2", inCluster("kubeAPIServer: {goawayChance: \"0.5\"}"), []string{"error kops-goaway-chance spec.kubeAPIServer.goawayChance"}},
		{"watch cache sizes", "1.36.2", inCluster("kubeAPIServer: {watchCacheSizes: [leases.coordination.k8s.io#0, leases=0, \"leases#x\"]}"),
			[]string{"error kops-watch-cache-size spec.kubeAPIServer.watchCacheSizes[1]", "error kops-watch-cache-size spec.kubeAPIServer.watchCacheSizes[2]"}},
		{"gate", "1.36.2", inCluster("kubeAPIServer: {featureGates: {ShardedListAndWatch: \"on\", A: true, B: \"true\"}}"),
			[]string{"error kops-feature-gate spec.kubeAPIServer.featureGates.ShardedListAndWatch", "error kops-field-type spec.kubeAPIServer.featureGates.A"}},
		{"int32", "1.36.2", inCluster("kubeAPIServer: {maxRequestsInflight: 3000000000}"), []string{"error kops-field-type spec.kubeAPIServer.maxRequestsInflight"}},
		{"fraction", "1.36.2", inCluster("kubeAPIServer: {maxRequestsInflight: 1.5}"), []string{"error kops-field-type spec.kubeAPIServer.maxRequestsInflight"}},
		{"amounts", "1.36.2", inCluster("kubeAPIServer: {cpuRequest: much, memoryRequest: 2Gi}\n  kubeScheduler: {qps: 500, burst: 500}"), []string{"error kops-field-type spec.kubeAPIServer.cpuRequest"}},
		{"a list that is a mapping", "1.36.2", inCluster("fileAssets: {name: a, content: b}"), []string{"error kops-field-type spec.fileAssets"}},
		{"null", "1.36.2", inCluster("kubeAPIServer:\n  kubeScheduler: ~"), nil},
		{"bootstrap tokens", "1.36.2", inCluster("kubeAPIServer: {enableBootstrapTokenAuth: on}"), []string{"error kops-bootstrap-token spec.kubeAPIServer.enableBootstrapTokenAuth"}},
		{"admission", "1.36.2", inCluster("kubeAPIServer: {admissionControl: [A], enableAdmissionPlugins: [A]}"),
			[]string{"error kops-replaced-field spec.kubeAPIServer.admissionControl", "warning kops-admission-replaced spec.kubeAPIServer.enableAdmissionPlugins"}},
		{"service range", "1.36.2", inCluster("kubeAPIServer: {serviceClusterIPRange: 10.0.0.0/16}\n  serviceClusterIPRange: 100.64.0.0/13"), []string{"error kops-service-range spec.kubeAPIServer.serviceClusterIPRange"}},
		{"signing duration", "1.36.2", inCluster("kubeControllerManager: {experimentalClusterSigningDuration: 1h, clusterSigningDuration: 1h}"),
			[]string{"error kops-field-unknown spec.kubeControllerManager.clusterSigningDuration", "error kops-replaced-field spec.kubeControllerManager.experimentalClusterSigningDuration"}},
		{"scheduler flags", "1.36.2", inCluster("kubeScheduler: {kubeAPIQPS: 500}"), []string{"warning kops-scheduler-client spec.kubeScheduler.kubeAPIQPS"}},
		{"taints", "1.36.2", inGroup("taints: [a=b:NoSchedule, \"a=b:c:d\", \"a:Maybe\", a=b:NoSchedule, a]"),
			[]string{"error kops-taint spec.taints[1]", "error kops-taint spec.taints[2]", "error kops-taint spec.taints[3]", "error kops-taint spec.taints[4]"}},
		{"file asset", "1.36.2", inGroup("fileAssets: [{name: a, content: YQ==, isBase64: true}, {name: b, content: YQ, isBase64: true, mode: \"0999\"}, {name: c}]"),
			[]string{"error kops-file-asset spec.fileAssets[0].content", "error kops-file-asset spec.fileAssets[1].mode", "error kops-file-asset spec.fileAssets[2]"}},
		{"file asset over kOps' own", "1.36.2", inGroup("fileAssets: [{name: a, content: a, path: /etc/kubernetes/manifests/kube-apiserver.manifest}]"), []string{"error kops-file-asset spec.fileAssets[0].path"}},
		{"hook", "1.36.2", inGroup("hooks: [{name: a}, {name: b, disabled: true}, {execContainer: {}}]"), []string{"error kops-hook spec.hooks[0]", "error kops-hook spec.hooks[2].execContainer"}},
		{"sysctl", "1.36.2", inCluster("sysctlParameters: [a=b, c]"), []string{"error kops-sysctl spec.sysctlParameters[1]"}},
		{"event qps", "1.36.2", inGroup("kubelet: {eventQPS: 1, eventRecordQPS: 2}"), []string{"warning kops-kubelet-event-qps spec.kubelet.eventQPS"}},
		{"load balancer on gce", "1.36.2", all(gce, replace("type: Public\n  channel", "type: Internal\n      class: Network\n  channel")),
			[]string{"error kops-load-balancer spec.api.loadBalancer.class", "error kops-load-balancer spec.api.loadBalancer.type"}},
		{"classic load balancer", "1.36.2", replace("type: Public\n  channel", "class: Classic\n  channel"), []string{"warning kops-load-balancer spec.api.loadBalancer.class"}},
		{"ranges", "1.36.2", replace("100.64.0.0/10", "172.16.0.0/12\n  podCIDR: 10.0.0.1/8"),
			[]string{"error kops-network spec.nonMasqueradeCIDR", "error kops-network spec.podCIDR", "error kops-network spec.podCIDR"}},
		{"subnets", "1.36.2", replace("    zone: us-east-1a\n", "    zone: us-east-1a\n    cidr: 10.0.0.0/24\n  - name: us-east-1a\n    type: Open\n"),
			[]string{"error kops-network spec.subnets[0].cidr", "error kops-network spec.subnets[1].name", "error kops-network spec.subnets[1].type"}},
		{"network range on gce", "1.36.2", all(gce, inCluster("networkCIDR: 10.0.0.0/16")), []string{"error kops-network spec.networkCIDR"}},
		{"name", "1.36.2", replace("  name: a.example.com\nspec", "  name: a\nspec"), []string{"error kops-cluster-name metadata.name"}},
		{"Kubernetes after kOps", "1.36.2", replace("1.33.4", "v1.37.0"), []string{"error kops-older-than-kubernetes spec.kubernetesVersion"}},
		{"no Kubernetes", "1.36.2", replace("  kubernetesVersion: 1.33.4\n", ""), []string{"error kops-kubernetes-version spec.kubernetesVersion"}},
		{"cloud", "1.36.2", replace("cloudProvider: aws", "cloudProvider: moon"), []string{"error kops-cloud spec.cloudProvider"}},
		{"metadata", "1.36.2", replace("creationTimestamp: null", "lables: {a: b}"), []string{"error kops-field-unknown metadata.lables"}},
		{"twice in one mapping", "1.36.2", inCluster("channel: alpha"), []string{"error kops-duplicate-key spec.channel"}},
		{"marker with a comment", "1.36.2", replace("---\napiVersion: kops.k8s.io/v1alpha2\nkind: SSH", "--- # key\napiVersion: kops.k8s.io/v1alpha2\nkind: SSH"), []string{"error kops-document-separator"}},
		{"trailing marker", "1.36.2", after("---\n"), []string{"error kops-empty-document"}},
		{"comment at the top", "1.36.2", func(s string) string { return "# mine\n---\n" + s }, []string{"error kops-empty-document"}},
		{"marker at the top", "1.36.2", func(s string) string { return "---\n" + s }, nil},
		{"another kind", "1.36.2", after("---\napiVersion: v1\nkind: ConfigMap\n"), []string{"info kops-additional-object kind"}},
		{"v1alpha3", "1.36.2", replace("v1alpha2\nkind: SSH", "v1alpha3\nkind: SSH"), []string{"warning kops-api-version apiVersion"}},
		{"v1beta1", "1.36.2", replace("v1alpha2\nkind: SSH", "v1beta1\nkind: SSH"), []string{"error kops-api-version apiVersion"}},
		{"unknown kind", "1.36.2", replace("kind: SSHCredential", "kind: InstanceGroups"), []string{"error kops-unknown-kind kind"}},
		{"syntax", "1.36.2", replace("    name: admin", "  name: admin").andThen(replace("metadata:\n  name: admin", "metadata: x:\n  name: admin")), []string{"error kops-yaml-syntax"}},
		{"old kOps", "1.33.0", all(), []string{"warning kops-version-unknown"}},
		{"kOps of tomorrow", "1.37.0", all(leases), []string{"warning kops-version-unknown"}},
	}
	for _, test := range tests {
		text := test.change(sound)
		if text == sound && test.version[:4] != "1.33" {
			t.Errorf("%s: changes nothing", test.name)
		}
		fs := check(t, text, test.version, "")
		var got []string
		for _, line := range brief(fs) {
			_, rest, _ := strings.Cut(line, " ")
			got = append(got, rest)
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s%v", test.name, diff, fs)
		}
	}
}

// TestFeatureFlags: what is found depends on the flags that kOps will run with.
func TestFeatureFlags(t *testing.T) {
	text := strings.Replace(sound, "    name: events\n", "    name: events\n  - etcdMembers:\n    - instanceGroup: control-plane-a\n      name: a\n    name: leases\n", 1) +
		"---\napiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nmetadata:\n  name: apiservers\n  labels: {kops.k8s.io/cluster: a.example.com}\nspec: {role: APIServer}\n"
	for flags, want := range map[string][]string{
		"":                                  {"kops-apiserver-flag"},
		"+APIServerNodes":                   nil,
		"Karpenter, APIServerNodes":         nil,
		"+APIServerNodes,-APIServerNodes":   {"kops-apiserver-flag"},
		"APIServerNodes2":                   {"kops-apiserver-flag"},
		"+EtcdEventsHTTP":                   {"kops-etcd-events-http", "kops-apiserver-flag"},
		"+APIServerNodes,+EtcdEventsHTTP\n": {"kops-etcd-events-http"},
	} {
		for _, inFile := range []bool{false, true} {
			in := Input{Files: []file.File{{Path: "cluster.yaml", Data: []byte(text)}}, Target: kopsTarget(t, "1.36.2", "")}
			if inFile {
				in.Files = append(in.Files, file.File{Path: "kops-flags.txt", Data: []byte("# mine\nKOPS_FEATURE_FLAGS=" + flags + "\n")})
			} else {
				in.FeatureFlags = flags
			}
			var got []string
			for _, f := range Check(in) {
				got = append(got, f.Code)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q, in a file %v (-want +got):\n%s", flags, inFile, diff)
			}
		}
	}
}

type change func(string) string

func (c change) andThen(next change) change {
	return func(s string) string { return next(c(s)) }
}

func replace(old, new string) change {
	return func(s string) string { return strings.Replace(s, old, new, 1) }
}

func inCluster(lines string) change { return replace("#cluster", lines) }
func inGroup(lines string) change   { return replace("#group", lines) }
func after(text string) change      { return func(s string) string { return s + text } }

func all(changes ...change) change {
	return func(s string) string {
		for _, c := range changes {
			s = c(s)
		}
		return s
	}
}

func FuzzCheck(f *testing.F) {
	troubled, err := os.ReadFile("testdata/troubled.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(troubled, 35)
	f.Add([]byte(sound), 36)
	f.Add([]byte("apiVersion: kops.k8s.io/v1alpha2\nkind: Cluster\nspec: {etcdClusters: [1, {name: [a]}, {etcdMembers: {a: b}}], kubelet: &k {a: *k}}\n"), 36)
	f.Add([]byte("apiVersion: kops.k8s.io/v1alpha2\nkind: InstanceGroup\nmetadata: [a]\nspec:\n  role: 5\n  taints: [~, 1]\n---\n--- # a\nkops\n...\n"), 34)
	f.Fuzz(func(t *testing.T, data []byte, minor int) {
		if len(data) > 1<<14 {
			return
		}
		in := Input{
			Files:  []file.File{{Path: "a.yaml", Data: data}},
			Target: target.Target{Kops: target.Version{Major: 1, Minor: minor % 40}, Cloud: "aws"},
		}
		first := Check(in)
		if again := Check(in); fmt.Sprint(first) != fmt.Sprint(again) {
			t.Errorf("two runs differ:\n%v\n%v", first, again)
		}
		count := strings.Count(string(data), "\n") + 1
		for _, f := range first {
			if f.Code == "" || f.Message == "" || f.Line < 0 || f.Line > count+1 {
				t.Errorf("finding %+v in %d lines", f, count)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	troubled, err := os.ReadFile("testdata/troubled.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"sound": sound, "troubled": string(troubled)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				check(b, text, "1.35.2", "aws")
			}
		})
	}
}
