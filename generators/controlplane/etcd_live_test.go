package controlplane_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubeseams/seams/generators/controlplane"
	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// live runs the members of a store as processes with the rendered flags, on
// loopback addresses in the place of hosts.
type live struct {
	t         *testing.T
	plan      *plan.Plan
	store     plan.Store
	dir       string
	processes map[string]*exec.Cmd
}

// A store in memory is brought up host by host, gets the manifests it keeps
// without losing its data, and survives the restart of a host: the member that
// lost its data neither serves an empty store nor begins a second cluster, and
// is taken in again.
func TestStoreLivesThroughItsStages(t *testing.T) {
	if testing.Short() {
		t.Skip("starts etcds")
	}
	for _, program := range []string{"etcd", "etcdctl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s to run", program)
		}
	}
	p := plantest.NodeTier(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm})
	for i := range p.ControlPlane.Hosts {
		p.ControlPlane.Hosts[i].Address = fmt.Sprintf("127.0.0.%d", 2+i)
	}
	store, _ := p.Store("leases")
	l := &live{t: t, plan: p, store: store, dir: t.TempDir(), processes: map[string]*exec.Cmd{}}
	l.certificates()

	l.start("cp-1", controlplane.Join)
	l.ready("cp-1")
	l.must("cp-1", "put", "key", "kept")
	for _, host := range []string{"cp-2", "cp-3"} {
		l.join(host, "cp-1", controlplane.Join)
	}
	for _, host := range store.Members {
		l.stop(host)
		l.start(host, controlplane.Steady)
		l.ready(host)
		l.must(host, "get", "key", "--print-value-only")
	}
	if got := l.must("cp-1", "get", "key", "--print-value-only"); got != "kept" {
		t.Fatalf("after the change of manifests the key is %q", got)
	}

	l.lose("cp-1")
	l.start("cp-1", controlplane.Steady)
	for range 4 { // it stops with a lost log, or catches up; it must not serve as if nothing had been
		if got, err := l.etcdctl("cp-1", "get", "key", "--print-value-only"); err == nil && got != "kept" {
			t.Fatalf("an empty member serves %q", got)
		}
	}
	l.must("cp-2", "member", "remove", l.id("cp-2", "cp-1"))
	l.lose("cp-1")
	if out, err := l.launch("cp-1", controlplane.Steady).CombinedOutput(); err == nil {
		t.Fatalf("an empty member began without being added:\n%s", out)
	}
	l.lose("cp-1")
	l.join("cp-1", "cp-2", controlplane.Steady)
	if got := l.must("cp-1", "get", "key", "--print-value-only"); got != "kept" {
		t.Errorf("the member that came back has %q", got)
	}
}

// join takes the steps of the rollout: a learner has no vote and is not ready
// before it is promoted.
func (l *live) join(host, through string, stage controlplane.Stage) {
	l.t.Helper()
	l.must(through, "member", "add", host, "--learner", "--peer-urls="+controlplane.PeerURL(l.plan, l.store, host))
	l.start(host, stage)
	l.eventually("promote "+host, func() error {
		_, err := l.etcdctl(through, "member", "promote", l.id(through, host))
		return err
	})
	l.ready(host)
}

// launch is the member's command, with places and the shared loopback
// addresses of the flags replaced.
func (l *live) launch(host string, stage controlplane.Stage) *exec.Cmd {
	l.t.Helper()
	pod, err := controlplane.Etcd(l.plan, l.store, host, stage)
	if err != nil {
		l.t.Fatal(err)
	}
	h, _ := l.plan.Host(host)
	var args []string
	for _, arg := range pod.Spec.Containers[0].Command[1:] {
		arg = strings.ReplaceAll(arg, controlplane.PKIDir, l.dir)
		arg = strings.ReplaceAll(arg, controlplane.DataDir(l.store), filepath.Join(l.dir, "data", host))
		arg = strings.Replace(arg, "https://127.0.0.1:2386,", "", 1)
		args = append(args, strings.Replace(arg, "http://127.0.0.1:", "http://"+h.Address+":", 1))
	}
	return exec.Command("etcd", args...)
}

func (l *live) start(host string, stage controlplane.Stage) {
	l.t.Helper()
	cmd := l.launch(host, stage)
	log, err := os.Create(filepath.Join(l.dir, host+".log"))
	if err != nil {
		l.t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.processes[host] = cmd
	l.t.Cleanup(func() { l.stop(host) })
}

func (l *live) ready(host string) {
	l.t.Helper()
	h, _ := l.plan.Host(host)
	l.eventually(host+" is ready", func() error { return get(fmt.Sprintf("http://%s:%d/readyz", h.Address, l.store.MetricsPort)) })
}

func (l *live) stop(host string) {
	if cmd := l.processes[host]; cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		delete(l.processes, host)
	}
}

// lose is what a restart of the host does to memory.
func (l *live) lose(host string) {
	l.t.Helper()
	l.stop(host)
	if err := os.RemoveAll(filepath.Join(l.dir, "data", host)); err != nil {
		l.t.Fatal(err)
	}
}

func (l *live) etcdctl(host string, args ...string) (string, error) {
	h, _ := l.plan.Host(host)
	pki := filepath.Join(l.dir, "etcd")
	all := append([]string{fmt.Sprintf("--endpoints=https://%s:%d", h.Address, l.store.ClientPort), "--command-timeout=3s",
		"--cacert=" + filepath.Join(pki, "ca.crt"), "--cert=" + filepath.Join(pki, "server.crt"), "--key=" + filepath.Join(pki, "server.key")}, args...)
	out, err := exec.Command("etcdctl", all...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("etcdctl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// must retries, since a cluster that has just changed elects a leader first.
func (l *live) must(host string, args ...string) (out string) {
	l.t.Helper()
	l.eventually(strings.Join(args, " "), func() (err error) { out, err = l.etcdctl(host, args...); return err })
	return out
}

func (l *live) id(through, host string) string {
	l.t.Helper()
	list := l.must(through, "member", "list")
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimSpace(line), ", ")
		if len(fields) > 3 && fields[3] == controlplane.PeerURL(l.plan, l.store, host) {
			return fields[0]
		}
	}
	l.t.Fatalf("%s is not a member:\n%s", host, list)
	return ""
}

func (l *live) eventually(what string, try func() error) {
	l.t.Helper()
	var err error
	for range 120 {
		if err = try(); err == nil {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	for host := range l.processes {
		log, _ := os.ReadFile(filepath.Join(l.dir, host+".log"))
		l.t.Logf("%s:\n%s", host, log[max(0, len(log)-3000):])
	}
	l.t.Fatalf("%s: %v", what, err)
}

// certificates makes what kubeadm makes on each host; here one pair serves all.
func (l *live) certificates() {
	l.t.Helper()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "etcd-ca"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caKey := l.write("ca", ca, ca, nil)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "cp"}, NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, DNSNames: []string{"localhost"}}
	for i := range 4 {
		leaf.IPAddresses = append(leaf.IPAddresses, net.IPv4(127, 0, 0, byte(1+i)))
	}
	l.write("server", leaf, ca, caKey)
	l.write("peer", leaf, ca, caKey)
}

// write makes a key pair; a nil signer signs itself.
func (l *live) write(name string, certificate, parent *x509.Certificate, signer *ecdsa.PrivateKey) *ecdsa.PrivateKey {
	l.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		l.t.Fatal(err)
	}
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, certificate, parent, &key.PublicKey, signer)
	if err != nil {
		l.t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		l.t.Fatal(err)
	}
	dir := filepath.Join(l.dir, "etcd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		l.t.Fatal(err)
	}
	for suffix, block := range map[string]*pem.Block{".crt": {Type: "CERTIFICATE", Bytes: der}, ".key": {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(filepath.Join(dir, name+suffix), pem.EncodeToMemory(block), 0o600); err != nil {
			l.t.Fatal(err)
		}
	}
	return key
}

func get(url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}
