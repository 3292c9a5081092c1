package aggregated_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubeseams/seams/generators/internal/plantest"
	"github.com/kubeseams/seams/internal/pki"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

const (
	tierName = "agents-example-dev"
	tierPath = "aggregated/" + tierName
)

// host is a directory with a kubeadm host's authorities and a tier's rendered
// files, as the rollout puts them there.
type host struct {
	t          *testing.T
	dir, files string
}

func newHost(t *testing.T) host {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Fatal("openssl is needed: ", err)
	}
	h := host{t, t.TempDir(), t.TempDir()}
	cluster, err := pki.New(pki.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pki.CA, pki.EtcdCA} {
		a, err := cluster.Authority(name)
		if err != nil {
			t.Fatal(err)
		}
		h.write(filepath.Join(h.dir, name+".crt"), a.Cert)
		h.write(filepath.Join(h.dir, name+".key"), a.Key)
	}
	p := plantest.Aggregated(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm}, 3, plan.StaticForm)
	for _, f := range files(t, p) {
		h.write(filepath.Join(h.files, f.Path), f.Data)
	}
	return h
}

func (h host) write(name string, data []byte) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// run runs the rendered script.
func (h host) run(env string, args ...string) (string, error) {
	cmd := exec.Command("sh", append([]string{filepath.Join(h.files, tierPath, "pki.sh")}, args...)...)
	cmd.Env = append(os.Environ(), "PKI="+h.dir, env)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (h host) read(name string) []byte {
	h.t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, name))
	if err != nil {
		h.t.Fatal(err)
	}
	return data
}

func (h host) verify(name, authority, dns string, usage x509.ExtKeyUsage) error {
	h.t.Helper()
	block, _ := pem.Decode(h.read(name))
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		h.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(h.read(authority))
	_, err = certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: dns, KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}

// The script makes what the manifests mount: for the names they are called by,
// signed by whom the other side trusts and by nobody else.
func TestPKIScript(t *testing.T) {
	h := newHost(t)
	if out, err := h.run("A=", "init"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	name := tierName + ".seams-system.svc"
	if err := h.verify(tierPath+"/server.crt", "aggregated/ca.crt", name, x509.ExtKeyUsageServerAuth); err != nil {
		t.Error(err)
	}
	if err := h.verify(tierPath+"/server.crt", "aggregated/ca.crt", name, x509.ExtKeyUsageClientAuth); err == nil {
		t.Error("the server's certificate is good for a client, too")
	}
	if err := h.verify(tierPath+"/client.crt", "ca.crt", "", x509.ExtKeyUsageClientAuth); err != nil {
		t.Error(err)
	}
	if err := h.verify(tierPath+"/etcd-client.crt", "aggregated/etcd-clients.crt", "", x509.ExtKeyUsageClientAuth); err != nil {
		t.Error(err)
	}
	if err := h.verify(tierPath+"/etcd-client.crt", "etcd/ca.crt", "", x509.ExtKeyUsageClientAuth); err == nil {
		t.Error("main's etcd would take the tier's client")
	}
	for _, key := range []string{"aggregated/ca.key", "aggregated/etcd-ca.key", tierPath + "/server.key", tierPath + "/client.key", tierPath + "/server.kubeconfig"} {
		if info, err := os.Stat(filepath.Join(h.dir, key)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", key, info, err)
		}
	}
}

// What lives long enough is kept; RENEW=1 and a short life make it anew, by the
// same authority.
func TestPKIScriptRenews(t *testing.T) {
	h := newHost(t)
	if out, err := h.run("DAYS=20", "init"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	short, authority := h.read(tierPath+"/server.crt"), h.read("aggregated/ca.crt")
	if out, err := h.run("A="); err != nil || strings.Contains(out, "kept") {
		t.Fatalf("%v\n%s", err, out)
	}
	renewed := h.read(tierPath + "/server.crt")
	if bytes.Equal(short, renewed) || !bytes.Equal(authority, h.read("aggregated/ca.crt")) {
		t.Error("20 days were not renewed, or by another authority")
	}
	if out, err := h.run("A="); err != nil || strings.Contains(out, "made") || !bytes.Equal(renewed, h.read(tierPath+"/server.crt")) {
		t.Errorf("a year was renewed: %v\n%s", err, out)
	}
	if _, err := h.run("RENEW=1"); err != nil || bytes.Equal(renewed, h.read(tierPath+"/server.crt")) {
		t.Errorf("RENEW=1 renewed nothing: %v", err)
	}
}

// A second host never gets authorities of its own by mistake: the first host's
// servers would not be trusted any more.
func TestPKIScriptWantsTheAuthority(t *testing.T) {
	h := newHost(t)
	if out, err := h.run("A="); err == nil || !strings.Contains(out, "copy them") {
		t.Errorf("%v\n%s", err, out)
	}
	if err := os.Remove(filepath.Join(h.dir, "ca.key")); err != nil {
		t.Fatal(err)
	}
	if out, err := h.run("A=", "init"); err == nil {
		t.Errorf("the cluster's own authority was made anew:\n%s", out)
	}
}
