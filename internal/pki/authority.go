package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	// DefaultValidity is that of a certificate, kubeadm's.
	DefaultValidity = 365 * 24 * time.Hour
	// authorityYears is how many times longer an authority lives, kubeadm's.
	authorityYears = 10
	// skew is how much a clock elsewhere may be behind the one that signs.
	skew = 5 * time.Minute
)

// Options are what all certificates of one cluster share.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Validity of a certificate; 0 means DefaultValidity. An authority is valid
	// ten times as long.
	Validity time.Duration
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

func (o Options) validity() time.Duration {
	if o.Validity <= 0 {
		return DefaultValidity
	}
	return o.Validity
}

// Pair is a certificate with its key, both in PEM.
type Pair struct {
	Cert, Key []byte
}

// Leaf is what a certificate is for.
type Leaf struct {
	// CN is the name that Kubernetes takes for the user's, Organizations for
	// the groups.
	CN            string
	Organizations []string
	// SANs are addresses and DNS names.
	SANs []string
	// Server and Client are the usages; one at least is needed.
	Server, Client bool
}

// Authority signs certificates. Its key stays in memory unless Pair is written.
type Authority struct {
	// Pair is the authority's own certificate and key.
	Pair
	options     Options
	certificate *x509.Certificate
	key         crypto.Signer
}

// NewAuthority makes a self-signed authority.
func NewAuthority(cn string, options Options) (*Authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	now := options.now()
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: cn},
		NotBefore: now.Add(-skew).UTC(),
		NotAfter:  now.Add(authorityYears * options.validity()).UTC(),
		KeyUsage:  x509.KeyUsageCertSign,
		// It signs leaves only.
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	a := &Authority{options: options, key: key}
	if a.certificate, a.Cert, err = sign(template, nil, key, key); err != nil {
		return nil, fmt.Errorf("authority %s: %w", cn, err)
	}
	if a.Key, err = keyPEM(key); err != nil {
		return nil, fmt.Errorf("authority %s: %w", cn, err)
	}
	return a, nil
}

// ParseAuthority takes an authority that exists, of any kind of key: that of a
// cluster which kubeadm made.
func ParseAuthority(pair Pair, options Options) (*Authority, error) {
	parsed, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, fmt.Errorf("authority: %w", err)
	}
	signer, ok := parsed.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("authority %s: its key cannot sign", parsed.Leaf.Subject.CommonName)
	}
	if !parsed.Leaf.IsCA {
		return nil, fmt.Errorf("authority %s: not a certificate that may sign others", parsed.Leaf.Subject.CommonName)
	}
	return &Authority{Pair: pair, options: options, certificate: parsed.Leaf, key: signer}, nil
}

// Issue makes a key and signs a certificate for it. A certificate does not
// outlive its authority.
func (a *Authority) Issue(leaf Leaf) (Pair, error) {
	template, err := a.template(leaf)
	if err != nil {
		return Pair{}, err
	}
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	pair := Pair{}
	if _, pair.Cert, err = sign(template, a.certificate, key, a.key); err != nil {
		return Pair{}, fmt.Errorf("certificate of %s: %w", leaf.CN, err)
	}
	if pair.Key, err = keyPEM(key); err != nil {
		return Pair{}, fmt.Errorf("certificate of %s: %w", leaf.CN, err)
	}
	return pair, nil
}

func (a *Authority) template(leaf Leaf) (*x509.Certificate, error) {
	if leaf.CN == "" {
		return nil, fmt.Errorf("a certificate without a common name")
	}
	now := a.options.now()
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: leaf.CN, Organization: leaf.Organizations},
		NotBefore:             later(now.Add(-skew).UTC(), a.certificate.NotBefore),
		NotAfter:              earlier(now.Add(a.options.validity()).UTC(), a.certificate.NotAfter),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
	}
	if leaf.Server {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		if len(leaf.SANs) == 0 {
			return nil, fmt.Errorf("certificate of %s: a server needs a name or an address that clients call it by", leaf.CN)
		}
	}
	if leaf.Client {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageClientAuth)
	}
	if len(template.ExtKeyUsage) == 0 {
		return nil, fmt.Errorf("certificate of %s: for neither a server nor a client", leaf.CN)
	}
	for _, san := range leaf.SANs {
		if ip := net.ParseIP(san); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, san)
		}
	}
	return template, nil
}

// sign makes the certificate of a key by the key of its parent; without a
// parent it is self-signed.
func sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey, by crypto.Signer) (*x509.Certificate, []byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	// RFC 5280 wants it positive.
	template.SerialNumber = serial.Add(serial, big.NewInt(1))
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		return nil, nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
