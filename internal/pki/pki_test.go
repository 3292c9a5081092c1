package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/plan"
)

var noon = time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)

func cluster(t *testing.T) *Cluster {
	t.Helper()
	c, err := New(Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// must returns a check for a pair of results.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func parse(t *testing.T, data []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(data)
	if block == nil {
		t.Fatal("no PEM")
	}
	return must(x509.ParseCertificate(block.Bytes))(t)
}

var testHost = Host{
	Name: "cp-1", Address: "10.0.0.11", ServingNames: []string{"api.example.dev"},
	ServiceAddress: "10.96.0.1", Server: "https://10.0.0.11:6443",
}

func hostFilesOf(t *testing.T, c *Cluster) map[string]file.File {
	t.Helper()
	m := map[string]file.File{}
	for _, f := range must(c.Host(testHost))(t) {
		m[f.Path] = f
	}
	return m
}

// Each certificate verifies by its own authority, for its own uses and names,
// and for nothing else.
func TestHostCertificates(t *testing.T) {
	c := cluster(t)
	files := hostFilesOf(t, c)
	etcd := []string{"localhost", "127.0.0.1", "::1", "cp-1", "10.0.0.11"}
	for _, want := range []struct {
		path, ca, cn   string
		server, client bool
		names          []string
		groups         []string
	}{
		{"pki/etcd/server", EtcdCA, "cp-1", true, true, etcd, nil},
		{"pki/etcd/peer", EtcdCA, "cp-1", true, true, etcd, nil},
		{"pki/apiserver-etcd-client", EtcdCA, "kube-apiserver-etcd-client", false, true, nil, nil},
		{"pki/apiserver", CA, "kube-apiserver", true, false, []string{"cp-1", "10.0.0.11", "api.example.dev", "10.96.0.1", "kubernetes.default.svc.cluster.local"}, nil},
		{"pki/apiserver-kubelet-client", CA, "kube-apiserver-kubelet-client", false, true, nil, []string{"kubeadm:cluster-admins"}},
		{"pki/front-proxy-client", FrontProxyCA, "front-proxy-client", false, true, nil, nil},
	} {
		cert := parse(t, files[want.path+".crt"].Data)
		if cert.Subject.CommonName != want.cn || !cmp.Equal(cert.Subject.Organization, want.groups) {
			t.Errorf("%s: subject %s", want.path, cert.Subject)
		}
		if cert.KeyUsage != x509.KeyUsageDigitalSignature || cert.IsCA {
			t.Errorf("%s: key usage %b, CA %v", want.path, cert.KeyUsage, cert.IsCA)
		}
		for _, ca := range []string{CA, EtcdCA, FrontProxyCA} {
			verifies(t, c, want.path, cert, ca, x509.ExtKeyUsageServerAuth, ca == want.ca && want.server)
			verifies(t, c, want.path, cert, ca, x509.ExtKeyUsageClientAuth, ca == want.ca && want.client)
		}
		for _, name := range want.names {
			if err := cert.VerifyHostname(name); err != nil {
				t.Errorf("%s: %v", want.path, err)
			}
		}
		for _, name := range []string{"10.0.0.12", "cp-2", "example.dev"} {
			if cert.VerifyHostname(name) == nil {
				t.Errorf("%s: good for %s", want.path, name)
			}
		}
		if pub, ok := cert.PublicKey.(*ecdsa.PublicKey); !ok || pub.Curve != elliptic.P256() {
			t.Errorf("%s: key is %T", want.path, cert.PublicKey)
		}
		if _, err := tls.X509KeyPair(files[want.path+".crt"].Data, files[want.path+".key"].Data); err != nil {
			t.Errorf("%s: %v", want.path, err)
		}
	}
}

func verifies(t *testing.T, c *Cluster, path string, cert *x509.Certificate, ca string, usage x509.ExtKeyUsage, want bool) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(must(c.Authority(ca))(t).Cert)
	for at, valid := range map[time.Time]bool{
		noon: true, noon.Add(-skew): true, noon.Add(DefaultValidity): true,
		noon.Add(-skew - time.Second): false, noon.Add(DefaultValidity + time.Second): false,
	} {
		_, err := cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{usage}})
		if got := err == nil; got != (want && valid) {
			t.Errorf("%s by %s at %s for usage %d: %v", path, ca, at, usage, err)
		}
	}
}

// An authority signs leaves, and only them.
func TestAuthority(t *testing.T) {
	c := cluster(t)
	cert := parse(t, must(c.Authority(CA))(t).Cert)
	if !cert.IsCA || !cert.MaxPathLenZero || cert.KeyUsage != x509.KeyUsageCertSign || len(cert.ExtKeyUsage) > 0 {
		t.Errorf("authority: %+v", cert)
	}
	if want := noon.Add(10 * DefaultValidity); !cert.NotAfter.Equal(want) {
		t.Errorf("valid to %s, want %s", cert.NotAfter, want)
	}
	for _, bad := range []string{"", "/ca", "../ca", "a/../ca", ".."} {
		if _, err := c.Authority(bad); err == nil {
			t.Errorf("authority %q is made", bad)
		}
	}
}

// A certificate ends with its authority, which may be an old one of kubeadm's.
func TestLeafEndsWithItsAuthority(t *testing.T) {
	key := must(rsa.GenerateKey(rand.Reader, 2048))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: noon.Add(-time.Minute), NotAfter: noon.Add(time.Hour),
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	pair := Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
	}
	a := must(ParseAuthority(pair, Options{Now: func() time.Time { return noon }}))(t)
	leaf := parse(t, must(a.Issue(Leaf{CN: "x", Client: true}))(t).Cert)
	if !leaf.NotAfter.Equal(template.NotAfter) || !leaf.NotBefore.Equal(template.NotBefore) {
		t.Errorf("leaf from %s to %s", leaf.NotBefore, leaf.NotAfter)
	}
	if err := leaf.CheckSignatureFrom(parse(t, pair.Cert)); err != nil {
		t.Error(err)
	}
	c := cluster(t)
	c.Use(CA, a)
	files := hostFilesOf(t, c)
	if string(files["pki/ca.crt"].Data) != string(pair.Cert) {
		t.Error("the authority in use is another")
	}
	notCA := must(must(c.Authority(EtcdCA))(t).Issue(Leaf{CN: "x", Client: true}))(t)
	if _, err := ParseAuthority(notCA, Options{}); err == nil {
		t.Error("a leaf is taken for an authority")
	}
}

func TestIssueRefuses(t *testing.T) {
	a := must(cluster(t).Authority(CA))(t)
	for _, leaf := range []Leaf{{}, {CN: "x"}, {CN: "x", Server: true}, {Client: true}} {
		if _, err := a.Issue(leaf); err == nil {
			t.Errorf("%+v is issued", leaf)
		}
	}
}

// What a plan lists is made, with the authorities' certificates and not their keys.
func TestPlanFiles(t *testing.T) {
	c := cluster(t)
	certs := []plan.Certificate{
		{Path: "aggregated/hot/server", CA: "aggregated/ca", CN: "hot.seams.svc", Usages: []string{"server"}, SANs: []string{"hot.seams.svc"}},
		{Path: "aggregated/hot/etcd-client", CA: EtcdCA, CN: "hot", Usages: []string{"client"}},
	}
	var paths []string
	for _, f := range must(c.Files(certs))(t) {
		paths = append(paths, f.Path)
		if want := strings.HasSuffix(f.Path, ".key"); (f.Mode == 0o600) != want {
			t.Errorf("%s has mode %o", f.Path, f.Mode)
		}
	}
	want := []string{"aggregated/ca.crt", "aggregated/hot/etcd-client.crt", "aggregated/hot/etcd-client.key", "aggregated/hot/server.crt", "aggregated/hot/server.key", "etcd/ca.crt"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
	if _, err := c.Files(append(certs, certs[0])); err == nil {
		t.Error("two certificates of one path are made")
	}
	if _, err := c.Files([]plan.Certificate{{Path: "x", CA: CA, CN: "x", Usages: []string{"signer"}}}); err == nil {
		t.Error("an unknown usage is taken")
	}
	pair := must(c.Certificate(certs[0], "127.0.0.1"))(t)
	if err := parse(t, pair.Cert).VerifyHostname("127.0.0.1"); err != nil {
		t.Error(err)
	}
}

func TestKubeconfig(t *testing.T) {
	c := cluster(t)
	files := hostFilesOf(t, c)
	for path, user := range map[string]string{"controller-manager.conf": "system:kube-controller-manager", "scheduler.conf": "system:kube-scheduler"} {
		config := must(clientcmd.RESTConfigFromKubeConfig(files[path].Data))(t)
		if config.Host != testHost.Server || config.Insecure {
			t.Errorf("%s: server %s, insecure %v", path, config.Host, config.Insecure)
		}
		cert := parse(t, config.CertData)
		if cert.Subject.CommonName != user || len(cert.Subject.Organization) > 0 {
			t.Errorf("%s: subject %s", path, cert.Subject)
		}
		verifies(t, c, path, cert, CA, x509.ExtKeyUsageClientAuth, true)
		verifies(t, c, path, cert, CA, x509.ExtKeyUsageServerAuth, false)
	}
	many := must(c.Kubeconfig(SuperAdmin, Endpoint{"a", "https://a:1"}, Endpoint{"b", "https://b:2"}))(t)
	config := must(clientcmd.Load(many))(t)
	if config.CurrentContext != "a" || len(config.Contexts) != 2 {
		t.Errorf("contexts %v, current %s", config.Contexts, config.CurrentContext)
	}
	if _, err := c.Kubeconfig(SuperAdmin); err == nil {
		t.Error("a kubeconfig without a server is made")
	}
}

// Nobody but the owner reads a key, also where a readable file was before.
func TestWriteModes(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "pki"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pki/ca.key"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	files := must(cluster(t).Host(testHost))(t)
	if err := Write(dir, files); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info := must(os.Stat(filepath.Join(dir, f.Path)))(t)
		want := fs.FileMode(0o600)
		if strings.HasSuffix(f.Path, ".crt") || strings.HasSuffix(f.Path, ".pub") {
			want = 0o644
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", f.Path, info.Mode().Perm(), want)
		}
		if strings.Contains(string(f.Data), "PRIVATE KEY") && want != 0o600 {
			t.Errorf("%s holds a key", f.Path)
		}
	}
	if info := must(os.Stat(filepath.Join(dir, "pki/etcd")))(t); info.Mode().Perm() != 0o700 {
		t.Errorf("directory has mode %o", info.Mode().Perm())
	}
	if err := Write(dir, []file.File{{Path: "../out"}}); err == nil {
		t.Error("a file outside the directory is written")
	}
}

func TestServiceAccountKey(t *testing.T) {
	c := cluster(t)
	block, _ := pem.Decode(c.ServiceAccount.Key)
	key := must(x509.ParseECPrivateKey(block.Bytes))(t)
	block, _ = pem.Decode(c.ServiceAccount.Cert)
	if public := must(x509.ParsePKIXPublicKey(block.Bytes))(t); !key.PublicKey.Equal(public) {
		t.Error("the public half is of another key")
	}
}
