package rig

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/pki"
)

// administrator makes the certificate of Config and the kubeconfig.
func (r *Rig) administrator() error {
	ca, err := r.pki.Authority(pki.CA)
	if err != nil {
		return err
	}
	if r.admin, err = ca.Issue(pki.SuperAdmin); err != nil {
		return err
	}
	var endpoints []pki.Endpoint
	for _, p := range r.apiservers() {
		endpoints = append(endpoints, pki.Endpoint{Name: p.Name, Server: server(p)})
	}
	if len(endpoints) == 0 {
		return nil
	}
	data, err := r.pki.Kubeconfig(pki.SuperAdmin, endpoints...)
	if err != nil {
		return err
	}
	return os.WriteFile(r.Kubeconfig(), data, 0o600)
}

// apiservers are the apiservers of the files; those that everybody talks to first.
func (r *Rig) apiservers() []*Process {
	var main, others []*Process
	for _, p := range r.Processes() {
		switch {
		case p.Component != "kube-apiserver" || p.Tier != "" || p.Host == "":
		case strings.HasPrefix(p.Name, "kube-apiserver@"):
			main = append(main, p)
		default:
			others = append(others, p)
		}
	}
	return append(main, others...)
}

func server(p *Process) string { return strings.TrimSuffix(p.MetricsURL, "/metrics") }

// Kubeconfig is the path of an administrator's kubeconfig with one context for
// each apiserver, named like its process.
func (r *Rig) Kubeconfig() string { return filepath.Join(r.dir, "admin.conf") }

// Config is an administrator's through one apiserver, without a limit of the
// client's own: by the name of its process, or empty for the first one. It is
// nil when there is no apiserver of that name.
func (r *Rig) Config(name string) *rest.Config {
	ca, err := r.pki.Authority(pki.CA)
	if err != nil {
		return nil
	}
	for _, p := range r.apiservers() {
		if name != "" && p.Name != name {
			continue
		}
		return &rest.Config{
			Host:            server(p),
			QPS:             -1,
			UserAgent:       "seams-prove",
			TLSClientConfig: rest.TLSClientConfig{CAData: ca.Cert, CertData: r.admin.Cert, KeyData: r.admin.Key},
		}
	}
	return nil
}

// HTTPClient is an administrator's for a process of the rig, above all for its
// MetricsURL. Apiservers are verified; controller managers and schedulers show
// certificates that they have signed themselves.
func (r *Rig) HTTPClient(p *Process) (*http.Client, error) {
	pair, err := tls.X509KeyPair(r.admin.Cert, r.admin.Key)
	if err != nil {
		return nil, err
	}
	ca, err := r.pki.Authority(pki.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Cert)
	config := &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots}
	if p.Component != "kube-apiserver" || p.Tier != "" {
		config.InsecureSkipVerify = true //nolint:gosec // see above; a client certificate gives nothing away
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}, nil
}

// EtcdClient is how a store is reached.
type EtcdClient struct {
	// Endpoints are the URLs of its members.
	Endpoints []string
	// TLS has a client certificate of the stores' authority.
	TLS *tls.Config
	// CertFile, KeyFile and CAFile are the same for programs, such as etcdctl.
	CertFile, KeyFile, CAFile string
}

// EtcdClient tells how to reach a store: "main", "events".
func (r *Rig) EtcdClient(store string) (EtcdClient, error) {
	c := EtcdClient{}
	for _, p := range r.Processes() {
		if store == "" || p.Store != store {
			continue
		}
		urls, _ := flag(p.Argv, "advertise-client-urls")
		c.Endpoints = append(c.Endpoints, strings.Split(urls, ",")...)
		dir := filepath.Join(r.dir, p.Host, "etc", "kubernetes", "pki")
		c.CAFile = filepath.Join(dir, "etcd", "ca.crt")
		c.CertFile, c.KeyFile = filepath.Join(dir, "apiserver-etcd-client.crt"), filepath.Join(dir, "apiserver-etcd-client.key")
	}
	if len(c.Endpoints) == 0 {
		return EtcdClient{}, fmt.Errorf("the rig has no store %q", store)
	}
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return EtcdClient{}, err
	}
	ca, err := r.pki.Authority(pki.EtcdCA)
	if err != nil {
		return EtcdClient{}, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Cert)
	c.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots}
	return c, nil
}

// Extra runs one more process under the rig's care: its log is beside the
// others and it ends with the rig. The first word is the name of a program of
// Options.Bin or a path. Set MetricsURL and ReadyURL of the answer where they
// are wanted; Ready waits for the latter.
func (r *Rig) Extra(ctx context.Context, name string, argv []string) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(argv) == 0 || name == "" || filepath.Base(name) != name {
		return nil, fmt.Errorf("extra process %q: it needs a name without slashes and a command", name)
	}
	program := argv[0]
	if !strings.Contains(program, "/") {
		if program = r.options.Bin.Path(program); program == "" {
			return nil, fmt.Errorf("extra process %s: the set of programs lacks %s", name, argv[0])
		}
	}
	p := &Process{
		Name: name, Component: filepath.Base(program), Argv: append([]string{program}, argv[1:]...),
		LogPath: filepath.Join(r.LogDir(), name+".log"),
		rig:     r, env: r.environment(), grace: 30 * time.Second,
	}
	p.op.Lock()
	defer p.op.Unlock()
	if err := r.adopt(p); err != nil {
		return nil, err
	}
	if err := p.spawn(); err != nil {
		return nil, err
	}
	r.say("started %s", p.Name)
	return p, nil
}

// adopt adds a process, so that Stop ends it.
func (r *Rig) adopt(p *Process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return fmt.Errorf("extra process %s: the rig is stopped", p.Name)
	}
	for _, other := range r.processes {
		if other.Name == p.Name {
			return fmt.Errorf("extra process %s: there is one of that name", p.Name)
		}
	}
	r.processes = append(r.processes, p)
	return nil
}
