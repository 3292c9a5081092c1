package rig

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var testMapping = mapping{
	hosts: map[string]string{"10.0.0.11": "127.77.1.1", "10.0.0.12": "127.77.1.2", "cp-3.example.dev": "127.77.1.3"},
	local: "127.77.1.1",
	dir:   "/rig/cp-1",
}

func TestMapText(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"10.0.0.11", "127.77.1.1"},
		{"127.0.0.1", "127.77.1.1"},
		{"0.0.0.0", "127.77.1.1"},
		{"https://127.0.0.1:2379,https://10.0.0.11:2379", "https://127.77.1.1:2379,https://127.77.1.1:2379"},
		{"cp-1=https://10.0.0.11:2380,cp-2=https://10.0.0.12:2380", "cp-1=https://127.77.1.1:2380,cp-2=https://127.77.1.2:2380"},
		{"/events#https://10.0.0.11:2383;https://10.0.0.12:2383,coordination.k8s.io/leases#https://10.0.0.12:2386",
			"/events#https://127.77.1.1:2383;https://127.77.1.2:2383,coordination.k8s.io/leases#https://127.77.1.2:2386"},
		{"https://cp-3.example.dev:2379", "https://127.77.1.3:2379"},
		{"https://localhost:2379", "https://127.77.1.1:2379"},
		{"https://[::1]:2379", "https://127.77.1.1:2379"},
		{"https://10.0.0.11/path", "https://127.77.1.1/path"},
		// What only looks like an address of a host.
		{"10.0.0.11/12", "10.0.0.11/12"},
		{"10.0.0.110", "10.0.0.110"},
		{"110.0.0.11", "110.0.0.11"},
		{"v10.0.0.11-rc", "v10.0.0.11-rc"},
		{"10.0.0.11.example.dev", "10.0.0.11.example.dev"},
		{"10.0.0.99", "10.0.0.99"},
		{"https://other.example.dev:2379", "https://other.example.dev:2379"},
		{"cp-3.example.dev", "cp-3.example.dev"},
		{"https://kubernetes.default.svc.cluster.local", "https://kubernetes.default.svc.cluster.local"},
	} {
		if got := testMapping.text(c.value); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.value, got, c.want)
		}
	}
}

// Whatever is mapped stays as it is when it is mapped again.
func TestMapTextTwice(t *testing.T) {
	for _, value := range []string{"https://127.0.0.1:2379,https://10.0.0.12:2379", "cp-1=https://10.0.0.11:2380", "https://cp-3.example.dev"} {
		once := testMapping.text(value)
		if twice := testMapping.text(once); twice != once {
			t.Errorf("%s becomes %s and then %s", value, once, twice)
		}
	}
}

func TestMapValue(t *testing.T) {
	mounts := []mount{
		{inPod: "/etc/kubernetes/pki", onHost: "/etc/kubernetes/pki"},
		{inPod: "/etc/kubernetes/pki/etcd", onHost: "/srv/etcd-pki"},
		{inPod: "/etc/kubernetes/scheduler.conf", onHost: "/etc/kubernetes/scheduler.conf"},
		{inPod: "/data", onHost: "/var/lib/etcd"},
	}
	for _, c := range []struct{ value, want, why string }{
		{"/etc/kubernetes/pki/ca.crt", "/rig/cp-1/etc/kubernetes/pki/ca.crt", whyPath},
		{"/etc/kubernetes/pki/etcd/ca.crt", "/rig/cp-1/srv/etcd-pki/ca.crt", whyPath},
		{"/etc/kubernetes/scheduler.conf", "/rig/cp-1/etc/kubernetes/scheduler.conf", whyPath},
		{"/data", "/rig/cp-1/var/lib/etcd", whyPath},
		{"/data,10.0.0.11", "/rig/cp-1/var/lib/etcd,127.77.1.1", whyBoth},
		{"/database", "/database", ""},
		{"/events#https://10.0.0.12:2383", "/events#https://127.77.1.2:2383", whyAddress},
		// One host, one address: an etcd cannot listen there twice.
		{"https://127.0.0.1:2379,https://10.0.0.11:2379", "https://127.77.1.1:2379", whyAddress},
		{"Node,RBAC", "Node,RBAC", ""},
		{"a,a", "a,a", ""},
	} {
		got, why := testMapping.value(c.value, mounts)
		if got != c.want || why != c.why {
			t.Errorf("%s: %s (%s), want %s (%s)", c.value, got, why, c.want, c.why)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		name       string
		argv, want []string
		changed    []string
	}{
		{"apiserver",
			[]string{"kube-apiserver", "--advertise-address=10.0.0.11", "--secure-port=6443", "--service-cluster-ip-range=10.96.0.0/12"},
			[]string{"--advertise-address=127.77.1.1", "--secure-port=6443", "--service-cluster-ip-range=10.96.0.0/12", "--bind-address=127.77.1.1", "--endpoint-reconciler-type=none"},
			[]string{"image", "--advertise-address", "--bind-address", "--endpoint-reconciler-type"}},
		{"apiserver with its own",
			[]string{"kube-apiserver", "--bind-address=0.0.0.0", "--endpoint-reconciler-type=lease"},
			[]string{"--bind-address=127.77.1.1", "--endpoint-reconciler-type=none"},
			[]string{"image", "--bind-address", "--endpoint-reconciler-type"}},
		{"apiserver of a tier",
			[]string{"kube-apiserver", "--bind-address=10.0.0.11", "--endpoint-reconciler-type=none"},
			[]string{"--bind-address=127.77.1.1", "--endpoint-reconciler-type=none"},
			[]string{"image", "--bind-address"}},
		{"scheduler in two words",
			[]string{"kube-scheduler", "--bind-address", "127.0.0.1", "--leader-elect"},
			[]string{"--bind-address", "127.77.1.1", "--leader-elect"},
			[]string{"image", "--bind-address"}},
		{"controller manager",
			[]string{"kube-controller-manager", "--bind-address=127.0.0.1"},
			[]string{"--bind-address=127.77.1.1", "--flex-volume-plugin-dir=/rig/cp-1/usr/libexec/kubernetes/kubelet-plugins/volume/exec"},
			[]string{"image", "--bind-address", "--flex-volume-plugin-dir"}},
		{"etcd", []string{"etcd", "--name=cp-1"}, []string{"--name=cp-1"}, []string{"image"}},
	} {
		argv, changes := testMapping.command(pod{argv: c.argv, image: "x:1"}, "/bin/x")
		if diff := cmp.Diff(append([]string{"/bin/x"}, c.want...), argv); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		var changed []string
		for _, x := range changes {
			changed = append(changed, x.What)
			if x.Why == "" || x.To == "" {
				t.Errorf("%s: change %+v is not explained", c.name, x)
			}
		}
		if diff := cmp.Diff(c.changed, changed); diff != "" {
			t.Errorf("%s: changes (-want +got):\n%s", c.name, diff)
		}
	}
}

// rendered are the golden files of the static-pod generator.
func rendered(t *testing.T) map[string]manifests {
	t.Helper()
	dirs, err := filepath.Glob("../../../generators/staticpod/testdata/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	all := map[string]manifests{}
	for _, dir := range dirs {
		files, err := ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		m, err := readManifests(files)
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		all[filepath.Base(dir)] = m
	}
	return all
}

// Of everything that is rendered, nothing points outside the rig: no address
// of a host, no 127.0.0.1 and no path of a host is left; every difference from
// the manifest is listed, and nothing else differs.
func TestRenderedCommandsStayInside(t *testing.T) {
	for name, m := range rendered(t) {
		hosts, err := hostsOf(m.pods)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		at := mapping{hosts: map[string]string{}, dir: "/rig/host", local: "127.77.1.9"}
		for i, h := range hosts {
			at.hosts[h.Rendered] = (&reservation{prefix: "127.77.1."}).address(i + 1)
		}
		for _, p := range slices.Concat(m.pods, m.steady) {
			argv, changes := at.command(p, "/bin/program")
			listed := map[string]bool{}
			for _, c := range changes {
				listed[c.What+"="+c.To] = true
			}
			for _, word := range argv[1:] {
				for _, h := range hosts {
					if strings.Contains(word, h.Rendered+":") || strings.HasSuffix(word, "="+h.Rendered) {
						t.Errorf("%s: %s@%s: %s names a host's own address", name, p.name, p.host, word)
					}
				}
				if strings.Contains(word, "127.0.0.1") || strings.Contains(word, "=/etc/") || strings.Contains(word, "=/var/") || strings.Contains(word, "=/run/") {
					t.Errorf("%s: %s@%s: %s is this machine's", name, p.name, p.host, word)
				}
				if !slices.Contains(p.argv, word) && !listed[word] {
					t.Errorf("%s: %s@%s: %s is not listed as changed", name, p.name, p.host, word)
				}
			}
		}
	}
}

func TestHostsOf(t *testing.T) {
	etcd := func(host, address string) pod {
		return pod{host: host, argv: []string{"etcd", "--advertise-client-urls=https://" + address + ":2379"}}
	}
	api := func(host, address string) pod {
		return pod{host: host, argv: []string{"kube-apiserver", "--advertise-address=" + address}}
	}
	hosts, err := hostsOf([]pod{etcd("b", "b.example.dev"), api("a", "10.0.0.1"), etcd("a", "10.0.0.1"), {host: "a", argv: []string{"kube-scheduler"}}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Host{{Name: "a", Rendered: "10.0.0.1"}, {Name: "b", Rendered: "b.example.dev"}}, hosts); diff != "" {
		t.Error(diff)
	}
	for want, pods := range map[string][]pod{
		"two addresses":              {etcd("a", "10.0.0.1"), api("a", "10.0.0.2")},
		"no manifest tells":          {{host: "a", argv: []string{"kube-scheduler"}}},
		"of which loopback has only": {etcd("a", "[fd00::1]")},
	} {
		if _, err := hostsOf(pods); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestPortsOf(t *testing.T) {
	ports := portsOf([]pod{
		{argv: []string{"etcd", "--listen-client-urls=https://127.0.0.1:2379,https://10.0.0.1:2379", "--listen-peer-urls=https://10.0.0.1:2380", "--listen-metrics-urls=http://127.0.0.1:2381"}},
		{argv: []string{"kube-apiserver", "--secure-port=7443"}}, {argv: []string{"kube-apiserver"}}, {argv: []string{"kube-scheduler"}},
	})
	if diff := cmp.Diff([]int{2379, 2380, 2381, 6443, 7443, 10259}, ports); diff != "" {
		t.Error(diff)
	}
}

func TestFlag(t *testing.T) {
	argv := []string{"x", "--a=1", "--b", "2", "--c", "--a=3", "-d=4"}
	for name, want := range map[string]string{"a": "3", "b": "2", "d": "4"} {
		if got, ok := flag(argv, name); !ok || got != want {
			t.Errorf("%s is %q, %v", name, got, ok)
		}
	}
	for _, name := range []string{"c", "e", "x"} {
		if got, ok := flag(argv, name); ok {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestTail(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(strings.Repeat("a long line of a log\n", 5000)+"last\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := tail(name)
	if !strings.HasSuffix(got, "  last") || strings.Count(got, "\n") != tailLines-1 {
		t.Errorf("tail is %q", got)
	}
	if err := os.WriteFile(name, []byte(strings.Repeat("x", 5000)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := tail(name); len(got) > lineBytes+10 || !strings.HasSuffix(got, "...") {
		t.Errorf("a long line is %d bytes", len(got))
	}
}
