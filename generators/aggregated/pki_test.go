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

// What is there is only kept if it is of the authority that is there, belongs to
// its key and has the names; and an authority is never made beside half of one.
func TestPKIScriptOfWhatIsThere(t *testing.T) {
	server := tierPath + "/server"
	move := func(h host, from, to string) {
		h.t.Helper()
		if err := os.Rename(filepath.Join(h.dir, from), filepath.Join(h.dir, to)); err != nil {
			h.t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		change func(h host)
		env    string
		// refused is part of the refusal, or empty.
		refused string
		// made says whether the server's certificate becomes another one.
		made bool
	}{
		"the key of the authority is elsewhere, nothing to sign": {func(h host) { move(h, "aggregated/ca.key", "offline") }, "A=", "", false},
		"the key of the authority is elsewhere": {func(h host) { move(h, "aggregated/ca.key", "offline") }, "RENEW=1",
			"aggregated/ca.key is not there, and is needed to sign", false},
		"the certificate of the authority is elsewhere": {func(h host) { move(h, "aggregated/ca.crt", "offline") }, "A=",
			"aggregated/ca.key is there and its .crt is not", false},
		"the key of the etcds' authority is elsewhere": {func(h host) { move(h, "aggregated/etcd-ca.key", "offline") }, "RENEW=1",
			"aggregated/etcd-ca.key is not there, and is needed to sign", true},
		"another authority": {func(h host) {
			move(h, "aggregated/ca.key", "old.key")
			move(h, "aggregated/ca.crt", "old.crt")
		}, "A=", "", true},
		"an authority of two halves": {func(h host) { h.write(filepath.Join(h.dir, "aggregated/ca.key"), h.read("aggregated/etcd-ca.key")) }, "RENEW=1",
			"do not belong together", false},
		"cut off between key and certificate": {func(h host) { h.write(filepath.Join(h.dir, server+".key"), h.read(tierPath+"/client.key")) }, "A=", "", true},
		"one more name": {func(h host) {
			file := filepath.Join(h.files, tierPath, "pki.sh")
			script, err := os.ReadFile(file)
			if err != nil {
				h.t.Fatal(err)
			}
			h.write(file, bytes.ReplaceAll(script, []byte("DNS:"+tierName+".seams-system.svc,"), []byte("DNS:"+tierName+".seams-system.svc,IP:fd00::17,")))
		}, "A=", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			if out, err := h.run("A=", "init"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			before := h.read(server + ".crt")
			c.change(h)
			out, err := h.run(c.env, "init")
			if c.refused == "" && err != nil || !strings.Contains(out, c.refused) || c.refused != "" && err == nil {
				t.Fatalf("%v, want %q:\n%s", err, c.refused, out)
			}
			if made := !bytes.Equal(before, h.read(server+".crt")); made != c.made {
				t.Errorf("made anew: %v, want %v:\n%s", made, c.made, out)
			}
			if c.refused != "" {
				return
			}
			if err := h.verify(server+".crt", "aggregated/ca.crt", tierName+".seams-system.svc", x509.ExtKeyUsageServerAuth); err != nil {
				t.Error(err)
			}
			if out, err := h.run("A=", "init"); err != nil || strings.Contains(out, "made") {
				t.Errorf("not kept the second time: %v\n%s", err, out)
			}
		})
	}
}

// The directory of the keys may be called anything.
func TestPKIScriptSecrets(t *testing.T) {
	h := newHost(t)
	p := plantest.Aggregated(target.Target{Kubernetes: plantest.Version(37), Platform: target.Kubeadm}, 3, plan.WorkloadForm)
	for _, f := range files(t, p) {
		h.write(filepath.Join(h.files, f.Path), f.Data)
	}
	bin, keys := t.TempDir(), filepath.Join(t.TempDir(), "a b", "c*")
	if err := os.MkdirAll(filepath.Dir(keys), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(h.dir, keys); err != nil {
		t.Fatal(err)
	}
	h.dir = keys
	// In place of kubectl: fails if a file that it was to read is not there.
	kubectl := filepath.Join(bin, "kubectl")
	h.write(kubectl, []byte(`#!/bin/sh
case "$*" in *create*) ;; *) cat >/dev/null; exit 0 ;; esac
for a in "$@"; do case $a in
--from-file=*) file=${a#--from-file=}; test -s "${file#*=}" || { echo "no ${file#*=}" >&2; exit 1; }; echo "$a" >>"`+bin+`/seen" ;;
*\ * | /*) echo "split: $a" >&2; exit 1 ;;
esac; done
`))
	if err := os.Chmod(kubectl, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := h.run("PATH="+bin+":"+os.Getenv("PATH"), "init")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen, err := os.ReadFile(filepath.Join(bin, "seen"))
	if err != nil || strings.Count(string(seen), "\n") != 10 {
		t.Errorf("%v, files for secrets:\n%s\n%s", err, seen, out)
	}
}
