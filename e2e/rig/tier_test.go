//go:build rig

package rig_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/binaries"
	"github.com/kubeseams/seams/internal/cli"
	"github.com/kubeseams/seams/internal/pki"
	"github.com/kubeseams/seams/internal/prove/rig"
)

const (
	tierName      = "hot"
	tierNamespace = "seams-system"
	tierPort      = 9443
)

// liveTier is a control plane with a tier beside it: a server of custom
// resources and an etcd, with certificates of their own.
type liveTier struct {
	*rig.Rig
	kube kubernetes.Interface
	dyn  dynamic.Interface
	// dir has the tier's keys and certificates.
	dir, url string
	// service is NAMESPACE/NAME of the Service that leads to it.
	service string
	etcd    rig.EtcdClient
}

func startTier(t *testing.T) *liveTier {
	t.Helper()
	set, err := binaries.Find("", "", "apiextensions-apiserver", "etcd", "etcdctl")
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, rig.Options{Files: render(t, "one.cue")})
	l := &liveTier{Rig: r, kube: client(t, r, ""), dir: filepath.Join(r.Dir(), "tier"), service: tierNamespace + "/" + tierName, url: fmt.Sprintf("https://%s:%d", r.Spare(), tierPort)}
	if l.dyn, err = dynamic.NewForConfig(r.Config("")); err != nil {
		t.Fatal(err)
	}
	l.certificates(t)
	l.objects(t)
	l.startEtcd(t, set.Path("etcd"))
	l.startServer(t, set.Path("apiextensions-apiserver"))
	t.Cleanup(func() { l.finalizers(t) })
	return l
}

// finalizers tells what the deletion of definitions has stumbled over, which
// explains where time went.
func (l *liveTier) finalizers(t *testing.T) {
	for _, p := range l.Processes() {
		log, err := os.ReadFile(p.LogPath)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, "failed with: ") || strings.Contains(line, "Waiting for items to be removed") {
				t.Logf("%s: %s", p.Name, strings.TrimSpace(line))
			}
		}
	}
}

// file writes a file of the tier for its owner only, and gives its path.
func (l *liveTier) file(t *testing.T, name string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(l.dir, name)
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

func (l *liveTier) certificates(t *testing.T) {
	t.Helper()
	dns := tierName + "." + tierNamespace + ".svc"
	for name, leaf := range map[string]struct {
		authority string
		pki.Leaf
	}{
		"server":      {"aggregated/ca", pki.Leaf{CN: dns, SANs: []string{dns}, Server: true}},
		"etcd":        {"aggregated/etcd-ca", pki.Leaf{CN: "etcd", SANs: []string{l.Spare()}, Server: true, Client: true}},
		"etcd-client": {"aggregated/etcd-ca", pki.Leaf{CN: "hot", Client: true}},
	} {
		a, err := l.PKI().Authority(leaf.authority)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := a.Issue(leaf.Leaf)
		if err != nil {
			t.Fatal(err)
		}
		l.file(t, name+".crt", pair.Cert)
		l.file(t, name+".key", pair.Key)
		l.file(t, filepath.Base(leaf.authority)+".crt", a.Cert)
	}
	cluster, err := l.PKI().Authority(pki.CA)
	if err != nil {
		t.Fatal(err)
	}
	l.file(t, "clients.crt", cluster.Cert)
	data, err := l.PKI().Kubeconfig(pki.Leaf{CN: "seams:aggregated:hot", Client: true}, pki.Endpoint{Name: "main", Server: l.Config("").Host})
	if err != nil {
		t.Fatal(err)
	}
	l.file(t, "server.kubeconfig", data)
}

// objects are the tier's identity and its Service. Nothing proxies addresses of
// Services here, so that the Service leads to the address itself.
func (l *liveTier) objects(t *testing.T) {
	t.Helper()
	ctx, user := t.Context(), []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "seams:aggregated:hot"}}
	read := rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}}
	rule := func(group string, resources ...string) rbacv1.PolicyRule {
		r := read
		r.APIGroups, r.Resources = []string{group}, resources
		return r
	}
	create := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	named := metav1.ObjectMeta{Name: "seams:aggregated-server"}
	create(l.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tierNamespace}}, metav1.CreateOptions{}))
	create(l.kube.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: named, Rules: []rbacv1.PolicyRule{
		rule("", "namespaces", "services"), rule("flowcontrol.apiserver.k8s.io", "flowschemas", "prioritylevelconfigurations"),
		rule("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "mutatingadmissionpolicies",
			"mutatingadmissionpolicybindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings"),
	}}, metav1.CreateOptions{}))
	for name, role := range map[string]string{"seams:hot": named.Name, "seams:hot:delegator": "system:auth-delegator"} {
		create(l.kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: user,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		}, metav1.CreateOptions{}))
	}
	create(l.kube.RbacV1().RoleBindings("kube-system").Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "seams:hot"}, Subjects: user,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "extension-apiserver-authentication-reader"},
	}, metav1.CreateOptions{}))
	create(l.kube.CoreV1().Services(tierNamespace).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: tierName},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: l.Spare(), Ports: []corev1.ServicePort{{Port: tierPort}}},
	}, metav1.CreateOptions{}))
}

func (l *liveTier) startEtcd(t *testing.T, program string) {
	t.Helper()
	at, peer := fmt.Sprintf("https://%s:2379", l.Spare()), fmt.Sprintf("https://%s:2380", l.Spare())
	in := func(name string) string { return filepath.Join(l.dir, name) }
	p, err := l.Extra(t.Context(), "etcd-hot", []string{program, "--name=hot", "--data-dir=" + in("data"), "--unsafe-no-fsync=true",
		"--listen-client-urls=" + at, "--advertise-client-urls=" + at, "--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=hot=" + peer, "--cert-file=" + in("etcd.crt"), "--key-file=" + in("etcd.key"), "--client-cert-auth=true",
		"--trusted-ca-file=" + in("etcd-ca.crt"), "--peer-cert-file=" + in("etcd.crt"), "--peer-key-file=" + in("etcd.key"),
		"--peer-client-cert-auth=true", "--peer-trusted-ca-file=" + in("etcd-ca.crt"),
		fmt.Sprintf("--listen-metrics-urls=http://%s:2381", l.Spare())})
	if err != nil {
		t.Fatal(err)
	}
	p.ReadyURL = fmt.Sprintf("http://%s:2381/readyz", l.Spare())
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.etcd = rig.EtcdClient{Endpoints: []string{at}, CAFile: in("etcd-ca.crt"), CertFile: in("etcd-client.crt"), KeyFile: in("etcd-client.key")}
}

func (l *liveTier) startServer(t *testing.T, program string) {
	t.Helper()
	in := func(name string) string { return filepath.Join(l.dir, name) }
	kubeconfig := in("server.kubeconfig")
	p, err := l.Extra(t.Context(), "aggregated-hot", []string{program, "--etcd-servers=" + l.etcd.Endpoints[0], "--etcd-prefix=/registry",
		"--etcd-cafile=" + l.etcd.CAFile, "--etcd-certfile=" + l.etcd.CertFile, "--etcd-keyfile=" + l.etcd.KeyFile,
		"--bind-address=" + l.Spare(), fmt.Sprintf("--secure-port=%d", tierPort), "--tls-cert-file=" + in("server.crt"), "--tls-private-key-file=" + in("server.key"),
		"--client-ca-file=" + in("clients.crt"), "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig, "--kubeconfig=" + kubeconfig,
		"--vmodule=crd_finalizer=4,customresource_handler=4,establishing_controller=4"})
	if err != nil {
		t.Fatal(err)
	}
	l.serves(t, p, 30_000)
}

// serves waits for the tier's server, and shows the last bytes of its log when
// the test fails.
func (l *liveTier) serves(t *testing.T, p *rig.Process, last int) {
	t.Helper()
	t.Cleanup(func() {
		if log, err := os.ReadFile(p.LogPath); t.Failed() && err == nil {
			t.Logf("the end of %s\n%s", p.LogPath, log[max(0, len(log)-last):])
		}
	})
	p.ReadyURL = l.url + "/readyz"
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// config is an administrator's at the tier's own server.
func (l *liveTier) config() *rest.Config {
	c := rest.CopyConfig(l.Config(""))
	c.Host = l.url
	c.CAData, c.CAFile = nil, filepath.Join(l.dir, "ca.crt")
	namespace, name, _ := strings.Cut(l.service, "/")
	c.ServerName = name + "." + namespace + ".svc"
	return c
}

// flags say how seams reaches the tier.
func (l *liveTier) flags() []string {
	// kube-apiserver lists no address of loopback in the Service kubernetes.
	return []string{"--kubeconfig", l.Kubeconfig(), "--main-server", l.Config("").Host, "--tier-server", l.url, "--tier-ca", filepath.Join(l.dir, "ca.crt"),
		"--tier-service", l.service + l.url[strings.LastIndex(l.url, ":"):]}
}

// seams runs the program in this process, and gives its exit code and all it said.
func (l *liveTier) seams(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	began := time.Now()
	code := cli.Main(t.Context(), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, append(args, l.flags()...))
	t.Logf("%s seams %s: exit code %d after %s\n%s", began.Format(time.TimeOnly), strings.Join(args, " "), code, time.Since(began).Round(time.Millisecond), out.String())
	return code, out.String()
}

// must is seams that has to exit with a code and say something.
func (l *liveTier) must(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	got, out := l.seams(t, args...)
	if got != code || !strings.Contains(out, says) {
		t.Fatalf("seams %s: exit code %d, want %d and %q in\n%s", strings.Join(args, " "), got, code, says, out)
	}
}

// stored counts the keys below a prefix in main's etcd and the tier's.
func (l *liveTier) stored(t *testing.T, prefix string) (main, tier int) {
	t.Helper()
	return keys(t, l.Rig, "main", prefix), len(strings.Fields(etcdctl(t, l.etcd, "get", prefix, "--prefix", "--keys-only")))
}

// program is seams as a process of its own, which can be killed.
func (l *liveTier) program(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], append(args, l.flags()...)...)
	cmd.Env = []string{asProgram + "=1", "HOME=" + l.dir}
	return cmd
}
