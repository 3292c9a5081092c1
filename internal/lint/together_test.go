package lint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manifest is a live kube-apiserver of a host, with one flag more.
func manifest(host, more string) string {
	text := strings.Replace(apiserverPod, "OVERRIDES", quoteYAML(more), 1)
	return strings.ReplaceAll(text, "--advertise-address=10.0.0.11", "--advertise-address="+host)
}

// stacked is the same beside kubeadm's own etcd.
func stacked(more string) string {
	return strings.ReplaceAll(manifest("10.0.0.11", more), "--etcd-servers=https://10.0.0.11:2379", "--etcd-servers=https://127.0.0.1:2379")
}

// etcdPod is an etcd of the host 10.0.0.11.
func etcdPod(name, ca, dir string, port int) string {
	return strings.NewReplacer("NAME", name, "TRUSTED", ca, "DIR", dir, "CLIENT", itoa(port), "PEER", itoa(port+1)).Replace(`apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: kube-system}
spec:
  hostNetwork: true
  containers:
  - name: etcd
    image: registry.k8s.io/etcd:3.7.0-0
    command:
    - etcd
    - --name=cp-1
    - --data-dir=DIR
    - --listen-client-urls=https://127.0.0.1:CLIENT,https://10.0.0.11:CLIENT
    - --advertise-client-urls=https://10.0.0.11:CLIENT
    - --listen-peer-urls=https://10.0.0.11:PEER
    - --initial-advertise-peer-urls=https://10.0.0.11:PEER
    - --initial-cluster=cp-1=https://10.0.0.11:PEER
    - --initial-cluster-token=NAME
    - --cert-file=/etc/kubernetes/pki/etcd/server.crt
    - --key-file=/etc/kubernetes/pki/etcd/server.key
    - --trusted-ca-file=TRUSTED
    - --client-cert-auth=true
    volumeMounts:
    - {mountPath: DIR, name: data}
    - {mountPath: /etc/kubernetes/pki, name: pki, readOnly: true}
  volumes:
  - {name: data, hostPath: {path: DIR, type: DirectoryOrCreate}}
  - {name: pki, hostPath: {path: /etc/kubernetes/pki, type: DirectoryOrCreate}}
`)
}

func itoa(n int) string {
	digits := ""
	for ; n > 0; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return digits
}

const (
	mainCA   = "/etc/kubernetes/pki/etcd/ca.crt"
	eventsCA = "/etc/kubernetes/pki/etcd-events/ca.crt"
	ttl      = "--event-ttl=30m"
	events   = "--etcd-servers-overrides=/events#https://10.0.0.11:2383"
)

// configMap is a dump of kubeadm-config with arguments for kube-apiserver.
func configMap(args string) string {
	return `apiVersion: v1
data:
  ClusterConfiguration: |
    apiServer: ` + args + `
    apiVersion: kubeadm.k8s.io/v1beta4
    certificatesDir: /etc/kubernetes/pki
    clusterName: kubernetes
    etcd:
      local:
        dataDir: /var/lib/etcd
    kind: ClusterConfiguration
    kubernetesVersion: v1.37.2
    networking: {dnsDomain: cluster.local, serviceSubnet: 10.96.0.0/12}
kind: ConfigMap
metadata: {name: kubeadm-config, namespace: kube-system}
`
}

// list puts objects into a List, as kubectl does for several.
func list(objects ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for _, o := range objects {
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(o), "\n", "\n  ") + "\n")
	}
	return b.String()
}

const (
	m1 = "cp-1/manifests/kube-apiserver.yaml"
	m2 = "cp-2/manifests/kube-apiserver.yaml"
)

// TestTogether: what is right to say of several files. Only the codes that are
// about more than one file are looked at.
func TestTogether(t *testing.T) {
	t.Parallel()
	about := []string{
		"upgrade-", "overrides-", "etcd-ca-differs", "etcd-servers-incomplete", "etcd-same-disk", "pod-name-conflict", "port-conflict",
		"data-dir-conflict", "route-", "etcd-server-not-here", "patch", "lint-",
	}
	for _, tc := range []struct {
		name  string
		files tree
		in    Input
		want  []string
	}{
		{"27 edited by hand", tree{"etc/kubeadm-config.yaml": configMap("{}"), "etc/manifests/kube-apiserver.yaml": stacked(ttl)}, Input{}, []string{"etc/manifests/kube-apiserver.yaml:11 error upgrade-drops-flag"}},
		{"27 in the configuration too", tree{"etc/kubeadm-config.yaml": configMap("{extraArgs: [{name: event-ttl, value: 30m}]}"), "etc/manifests/kube-apiserver.yaml": stacked(ttl)}, Input{}, nil},
		{"27 another value", tree{"etc/kubeadm-config.yaml": configMap("{extraArgs: [{name: event-ttl, value: 20m}]}"), "etc/manifests/kube-apiserver.yaml": stacked(ttl)}, Input{}, []string{"etc/manifests/kube-apiserver.yaml:11 warning upgrade-changes-flag"}},
		{"27 not yet in force", tree{"etc/kubeadm-config.yaml": configMap("{extraArgs: [{name: goaway-chance, value: \"0.001\"}, {name: event-ttl, value: 30m}]}"), "etc/manifests/kube-apiserver.yaml": stacked(ttl)}, Input{}, []string{"etc/kubeadm-config.yaml:4 warning upgrade-adds-flag"}},
		{"27 by patches", tree{"etc/kubeadm-config.yaml": configMap("{}"), "etc/manifests/kube-apiserver.yaml": stacked(ttl), "etc/patches/kube-apiserver0+json.yaml": "- op: add\n  path: /spec/containers/0/command/-\n  value: \"--event-ttl=30m\"\n"}, Input{}, nil},
		{"27 kubeadm's own value edited", tree{"etc/kubeadm-config.yaml": configMap("{}"), "etc/manifests/kube-apiserver.yaml": stacked("--enable-admission-plugins=NodeRestriction,PodNodeSelector")}, Input{}, []string{"etc/manifests/kube-apiserver.yaml:11 error upgrade-changes-flag"}},
		{"27 in a list", tree{"etc/dump.yaml": list(configMap("{}")), "etc/manifests/kube-apiserver.yaml": stacked(ttl)}, Input{}, []string{"etc/manifests/kube-apiserver.yaml:11 error upgrade-drops-flag"}},
		{"27 above the hosts", tree{"kubeadm.yaml": v4, m1: stacked(ttl)}, Input{}, []string{m1 + ":11 error upgrade-drops-flag"}},
		{"27 of another tree", tree{"a/b/kubeadm.yaml": v4, m1: stacked(ttl)}, Input{}, nil},
		{"27 two configurations are alternatives", tree{"etc/a.yaml": v4, "etc/b.yaml": v4, "etc/manifests/kube-apiserver.yaml": stacked(ttl)}, Input{}, nil},
		{"overrides differ", tree{m1: manifest("10.0.0.11", events), m2: manifest("10.0.0.12", ttl)}, Input{}, []string{m2 + ":9 error overrides-differ", m2 + ":13 error etcd-servers-incomplete"}},
		{"overrides of two clusters", tree{m1: manifest("10.0.0.11", events), m2: strings.ReplaceAll(manifest("10.0.0.21", ttl), "https://10.0.0.11", "https://10.0.0.21")}, Input{}, nil},
		{"overrides of two clusters, said to be one", tree{m1: manifest("10.0.0.11", events), m2: strings.ReplaceAll(manifest("10.0.0.21", ttl), "https://10.0.0.11", "https://10.0.0.21")}, Input{OneCluster: true}, []string{m2 + ":9 error overrides-differ"}},
		{"overrides in one directory", tree{"a.yaml": manifest("10.0.0.11", events), "b.yaml": manifest("10.0.0.11", ttl)}, Input{}, []string{"b.yaml:9 error overrides-differ"}},
		{"12 another CA", tree{"m/manifests/a.yaml": stacked(events), "m/manifests/etcd.yaml": etcdPod("etcd", mainCA, "/var/lib/etcd", 2379), "m/manifests/events.yaml": etcdPod("etcd-events", eventsCA, "/mnt/events/etcd", 2383)}, Input{}, []string{"m/manifests/events.yaml:21 error etcd-ca-differs"}},
		{"32 one disk", tree{"m/manifests/a.yaml": stacked(events), "m/manifests/etcd.yaml": etcdPod("etcd", mainCA, "/var/lib/etcd", 2379), "m/manifests/events.yaml": etcdPod("etcd-events", mainCA, "/var/lib/etcd-events", 2383)}, Input{}, []string{"m/manifests/events.yaml:12 info etcd-same-disk"}},
		{"one port", tree{"m/manifests/etcd.yaml": etcdPod("etcd", mainCA, "/var/lib/etcd", 2379), "m/manifests/events.yaml": etcdPod("etcd-events", mainCA, "/mnt/events/etcd", 2379)}, Input{}, []string{"m/manifests/events.yaml:13 error port-conflict"}},
		{"one directory", tree{"m/manifests/etcd.yaml": etcdPod("etcd", mainCA, "/var/lib/etcd", 2379), "m/manifests/events.yaml": etcdPod("etcd-events", mainCA, "/var/lib/etcd/events", 2383)}, Input{}, []string{"m/manifests/events.yaml:12 error data-dir-conflict"}},
		{"no etcd at a local address", tree{"m/manifests/a.yaml": stacked("--etcd-servers-overrides=/events#https://127.0.0.1:2390"), "m/manifests/etcd.yaml": etcdPod("etcd", mainCA, "/var/lib/etcd", 2379)}, Input{}, []string{"m/manifests/a.yaml:11 error route-without-store"}},
		{"etcd on another host", tree{"m/manifests/a.yaml": stacked("--etcd-servers-overrides=/events#https://10.0.0.99:2379"), "m/manifests/etcd.yaml": etcdPod("etcd", mainCA, "/var/lib/etcd", 2379)}, Input{}, nil},
		{"a manifest alone", tree{"m/manifests/a.yaml": stacked(events)}, Input{}, nil},
		{"a copy beside the manifest", tree{"m/manifests/a.yaml": stacked(ttl), "m/manifests/a.yaml.bak": stacked(ttl)}, Input{}, []string{"m/manifests/a.yaml.bak:3 error pod-name-conflict"}},
		{"patches not named", tree{"k.yaml": v4 + "---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint: {advertiseAddress: 10.0.0.11}\n", "patches/kube-apiserver0+json.yaml": "- op: add\n  path: /spec/containers/0/command/-\n  value: \"--event-ttl=30m\"\n"}, Input{}, []string{"k.yaml:5 warning patches-not-used"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tc.files, tc.in)
			var got []string
			for _, line := range brief(r.Findings) {
				code := line[strings.LastIndexByte(line, ' ')+1:]
				for _, prefix := range about {
					if strings.HasPrefix(code, prefix) {
						got = append(got, line)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, full(r.Findings))
			}
			if r.Files != len(tc.files) {
				t.Errorf("%d of %d files linted", r.Files, len(tc.files))
			}
		})
	}
}

// TestConfig: a configuration that the user names goes with manifests anywhere.
func TestConfig(t *testing.T) {
	t.Parallel()
	files := tree{"somewhere/config.yaml": configMap("{}"), m1: stacked(ttl)}
	r := run(t, files, Input{Entries: entries(files, func(name string) Entry { return Entry{Path: name, Config: strings.HasPrefix(name, "somewhere")} })})
	if got := strings.Join(brief(r.Findings), "\n"); got != m1+":11 error upgrade-drops-flag" {
		t.Errorf("got %s\n%s", got, full(r.Findings))
	}
	if text := full(r.Findings); !strings.Contains(text, "somewhere/config.yaml data.ClusterConfiguration") {
		t.Errorf("the configuration's place is not named:\n%s", text)
	}
}
