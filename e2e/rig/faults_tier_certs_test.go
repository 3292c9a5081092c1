//go:build rig

package rig_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/pki"
	"github.com/kubeseams/seams/internal/plan"
)

// lifetime of a certificate that is to expire while a test looks on. A server
// sees a new file at once or, at the latest, within a minute.
const lifetime = 75 * time.Second

// replace puts a certificate of the same names, good for a time, in the place of
// one, and says when it ends.
func (b *brokenTier) replace(name, authority string, validity time.Duration) time.Time {
	b.t.Helper()
	ca, err := b.PKI().Authority(authority)
	if err != nil {
		b.t.Fatal(err)
	}
	if ca, err = pki.ParseAuthority(ca.Pair, pki.Options{Validity: validity}); err != nil {
		b.t.Fatal(err)
	}
	pair, err := ca.Issue(b.leaf(name))
	if err != nil {
		b.t.Fatal(err)
	}
	for suffix, data := range map[string][]byte{".crt": pair.Cert, ".key": pair.Key} {
		if err := os.WriteFile(b.at(name+suffix), data, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	made, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		b.t.Fatal(err)
	}
	return made.Leaf.NotAfter
}

// leaf is what a certificate is for.
func (b *brokenTier) leaf(name string) pki.Leaf {
	b.t.Helper()
	c, err := tls.LoadX509KeyPair(b.at(name+".crt"), b.at(name+".key"))
	if err != nil {
		b.t.Fatal(err)
	}
	leaf := pki.Leaf{CN: c.Leaf.Subject.CommonName, Organizations: c.Leaf.Subject.Organization, SANs: c.Leaf.DNSNames}
	for _, ip := range c.Leaf.IPAddresses {
		leaf.SANs = append(leaf.SANs, ip.String())
	}
	for _, use := range c.Leaf.ExtKeyUsage {
		leaf.Server = leaf.Server || use == x509.ExtKeyUsageServerAuth
		leaf.Client = leaf.Client || use == x509.ExtKeyUsageClientAuth
	}
	return leaf
}

// shown is the end of the certificate that the tier's server shows.
func (b *brokenTier) shown() (time.Time, error) {
	u, err := url.Parse(b.TierConfig(b.tier).Host)
	if err != nil {
		return time.Time{}, err
	}
	c, err := tls.Dial("tcp", u.Host, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // only looked at
	if err != nil {
		return time.Time{}, err
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].NotAfter, nil
}

// shows waits until the tier's server shows the certificate that ends then.
func (b *brokenTier) shows(what string, end time.Time) {
	b.t.Helper()
	b.until("the server shows the "+what+" certificate, without a restart", 70*time.Second, func() error {
		at, err := b.shown()
		return want(err == nil && at.Equal(end), "it ends at %s, %v", at, err)
	})
}

// The tier's serving certificate expires. Connections that are open go on; new
// ones are refused, and the group answers 503 from then on. A new certificate is
// taken without a restart.
func TestFaultTierServingCertificate(t *testing.T) {
	b := breakTier(t)
	name := "aggregated/" + b.tier + "/server"
	end := b.replace(name, plan.AggregatedCA, lifetime)
	b.shows("new", end)
	time.Sleep(time.Until(end.Add(2 * time.Second)))
	t.Logf("right after it expired: get: %v; APIService: %v", b.get("before"), b.available())
	// The aggregator asks every 30 s.
	time.Sleep(40 * time.Second)
	t.Logf("%s after it expired: get: %v; APIService: %v", time.Since(end).Round(time.Second), b.get("before"), b.available())
	// Connections end with either side; here that is the tier's server.
	if err := b.server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.until("the APIService says that it expired, once connections are new", 90*time.Second, func() error {
		err := b.available()
		return want(err != nil && strings.Contains(err.Error(), "certificate has expired"), "%v", err)
	})
	t.Logf("the APIService says: %v", b.available())
	err := b.get("before")
	t.Logf("clients see: %v", err)
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("%v, want 503", err)
	}
	b.shows("renewed", b.replace(name, plan.AggregatedCA, pki.DefaultValidity))
	b.until("the group is served again", 2*time.Minute, func() error { return b.get("before") })
	b.until("its APIService is available", 2*time.Minute, b.available)
	b.tell("the tier's serving certificate expired")
	b.promises()
}

// The certificate that kube-apiserver shows itself with expires. The tier takes
// nobody's word for who asks from then on, also on connections that are open. A
// new one is taken without a restart.
func TestFaultTierProxyCertificate(t *testing.T) {
	b := breakTier(t)
	end := b.replace("front-proxy-client", pki.FrontProxyCA, lifetime)
	time.Sleep(time.Until(end.Add(-time.Second)))
	t.Logf("before it expires: %v", b.get("before"))
	b.until("the group is refused after it expired", time.Minute, func() error {
		return want(b.get("before") != nil, "served")
	})
	for _, later := range []time.Duration{0, 40 * time.Second} {
		time.Sleep(later)
		err := b.get("before")
		t.Logf("%s later: %v (status reason %q); APIService: %v", later, err, apierrors.ReasonForError(err), b.available())
		if !apierrors.IsUnauthorized(err) && !apierrors.IsServiceUnavailable(err) {
			t.Error("neither 401 nor 503")
		}
	}
	b.replace("front-proxy-client", pki.FrontProxyCA, pki.DefaultValidity)
	b.until("the group is served again, without a restart", 2*time.Minute, func() error { return b.get("before") })
	b.until("its APIService is available", 2*time.Minute, b.available)
	b.tell("the front proxy's certificate expired")
	b.promises()
}

// The certificate by which the tier asks kube-apiserver who may do what expires.
// Nobody is allowed anything from then on but by what was asked lately. Its files
// are read again every five minutes; a restart does not wait.
func TestFaultTierClientCertificate(t *testing.T) {
	b := breakTier(t)
	name, as := "aggregated/"+b.tier+"/client", b.ordinary()
	end := b.replace(name, pki.CA, lifetime)
	if err := b.server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	read := func() error {
		ctx, cancel := b.briefly()
		defer cancel()
		_, err := as.Namespace("default").Get(ctx, "before", metav1.GetOptions{})
		return err
	}
	b.until("served with the new certificate", 30*time.Second, read)
	time.Sleep(time.Until(end))
	b.until("an ordinary user is refused", time.Minute, func() error { return want(read() != nil, "served") })
	err := read()
	t.Logf("a user sees: %v (status reason %q); an administrator: %v; APIService: %v", err, apierrors.ReasonForError(err), b.get("before"), b.available())
	time.Sleep(35 * time.Second)
	t.Logf("35 s later: a user: %v; APIService: %v", read(), b.available())
	b.replace(name, pki.CA, pki.DefaultValidity)
	if err := b.server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.until("served again after a restart", time.Minute, read)
	b.tell("the tier's client certificate expired")
	b.promises()
}

// ordinary reads sessions as somebody who may, and is no administrator.
func (b *brokenTier) ordinary() dynamic.NamespaceableResourceInterface {
	b.t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{hotGroup}, Resources: []string{"sessions"}, Verbs: []string{"get"}},
	}}
	if _, err := b.api.RbacV1().ClusterRoles().Create(b.t.Context(), role, metav1.CreateOptions{}); err != nil {
		b.t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "reader"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "reader"}}}
	if _, err := b.api.RbacV1().ClusterRoleBindings().Create(b.t.Context(), binding, metav1.CreateOptions{}); err != nil {
		b.t.Fatal(err)
	}
	as := rest.CopyConfig(b.Config(""))
	as.Impersonate.UserName = "reader"
	d, err := dynamic.NewForConfig(as)
	if err != nil {
		b.t.Fatal(err)
	}
	return d.Resource(schema.GroupVersionResource{Group: hotGroup, Version: "v1", Resource: "sessions"})
}
