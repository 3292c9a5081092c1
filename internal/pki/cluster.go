package pki

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/plan"
)

// The authorities of a kubeadm host, by their path below its pki directory
// without the extension, as a plan's certificates name them.
const (
	CA           = "ca"
	EtcdCA       = "etcd/ca"
	FrontProxyCA = "front-proxy-ca"
)

// authorityNames are what kubeadm calls its authorities; others get the name
// of their path.
var authorityNames = map[string]string{
	CA:           "kubernetes",
	EtcdCA:       "etcd-ca",
	FrontProxyCA: "front-proxy-ca",
}

// Cluster is the authorities and the service account key of one cluster. It is
// safe for concurrent use.
type Cluster struct {
	options Options
	// ServiceAccount signs the tokens of service accounts. Cert is its public key.
	ServiceAccount Pair

	mu          sync.Mutex
	authorities map[string]*Authority
}

// New makes the key of service accounts and the three authorities of a kubeadm
// host.
func New(options Options) (*Cluster, error) {
	c := &Cluster{options: options, authorities: map[string]*Authority{}}
	for _, name := range []string{CA, EtcdCA, FrontProxyCA} {
		if _, err := c.Authority(name); err != nil {
			return nil, err
		}
	}
	var err error
	if c.ServiceAccount, err = ServiceAccountKey(); err != nil {
		return nil, err
	}
	return c, nil
}

// Authority is the authority of a path: CA, or "aggregated/ca" of a plan. One
// that is not there yet is made.
func (c *Cluster) Authority(name string) (*Authority, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.authorities[name]; a != nil {
		return a, nil
	}
	if path.Clean(name) != name || !filepath.IsLocal(name) {
		return nil, fmt.Errorf("authority %q: not a path below the pki directory", name)
	}
	cn := authorityNames[name]
	if cn == "" {
		cn = name
	}
	a, err := NewAuthority(cn, c.options)
	if err != nil {
		return nil, err
	}
	c.authorities[name] = a
	return a, nil
}

// Use puts an authority that exists in the place of a path.
func (c *Cluster) Use(name string, a *Authority) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.authorities[name] = a
}

// Files makes a plan's certificates that a caller has chosen, with the
// certificates of the authorities that signed them, as files below a pki
// directory. The keys of the authorities stay behind. Two certificates of one
// path, as those of two hosts, are an error.
func (c *Cluster) Files(certs []plan.Certificate) ([]file.File, error) {
	b := &hostFiles{cluster: c}
	seen := map[string]bool{}
	for _, cert := range certs {
		if seen[cert.Path] {
			return nil, fmt.Errorf("certificate %s: listed twice", cert.Path)
		}
		seen[cert.Path] = true
		pair, err := c.Certificate(cert)
		if err != nil {
			return nil, err
		}
		b.pair(cert.Path, pair)
		if !seen[cert.CA] {
			seen[cert.CA] = true
			a, err := c.Authority(cert.CA)
			if err != nil {
				return nil, err
			}
			b.add(cert.CA+".crt", a.Cert, 0)
		}
	}
	file.Sort(b.files)
	return b.files, nil
}

// Certificate makes what a plan's certificate lists, with more names besides
// where the plan leaves them to who makes it: the serving certificate of an
// apiserver needs those of its host.
func (c *Cluster) Certificate(cert plan.Certificate, names ...string) (Pair, error) {
	leaf := Leaf{CN: cert.CN, SANs: slices.Concat(cert.SANs, names)}
	for _, usage := range cert.Usages {
		switch usage {
		case "server":
			leaf.Server = true
		case "client":
			leaf.Client = true
		default:
			return Pair{}, fmt.Errorf("certificate %s: usage %q is neither server nor client", cert.Path, usage)
		}
	}
	a, err := c.Authority(cert.CA)
	if err != nil {
		return Pair{}, fmt.Errorf("certificate %s: %w", cert.Path, err)
	}
	slices.Sort(leaf.SANs)
	leaf.SANs = slices.Compact(leaf.SANs)
	return a.Issue(leaf)
}

// ServiceAccountKey makes a key for the tokens of service accounts and the
// public half of it, in PEM.
func ServiceAccountKey() (Pair, error) {
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	private, err := keyPEM(key)
	if err != nil {
		return Pair{}, fmt.Errorf("service account key: %w", err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return Pair{}, fmt.Errorf("service account key: %w", err)
	}
	return Pair{Cert: pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), Key: private}, nil
}
