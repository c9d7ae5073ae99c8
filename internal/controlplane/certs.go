package controlplane

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
	"time"
)

// lifetime is how long certificates are valid. No control plane runs that long.
const lifetime = 365 * 24 * time.Hour

// serviceIPs is the range of Service addresses. The Service "kubernetes" has the first
// one.
const serviceIPs = "10.0.0.0/24"

var firstServiceIP = net.IPv4(10, 0, 0, 1)

// credentials has what the programs need to trust each other. The keys of the
// authorities are not kept, because nothing else is signed.
type credentials struct {
	ca                    []byte // PEM; signs the certificate of the API server; clients present tokens
	serverCert, serverKey []byte // PEM
	frontProxyCA          []byte // PEM; signs nothing, but extension API servers require an authority
	serviceAccountKey     []byte // PEM; signs tokens
	adminToken            string
	controllerToken       string
}

// newCredentials creates all keys, certificates and tokens. An ECDSA key takes less than
// a millisecond.
func newCredentials() (*credentials, error) {
	frontProxy, err := newAuthority("operon-front-proxy")
	if err != nil {
		return nil, err
	}
	c := &credentials{frontProxyCA: frontProxy.pem, adminToken: rand.Text(), controllerToken: rand.Text()}
	if c.ca, c.serverCert, c.serverKey, err = ServingCertificate(); err != nil {
		return nil, err
	}
	_, c.serviceAccountKey, err = newKey()
	return c, err
}

// ServingCertificate returns a new authority, and a certificate and key for a server at 127.0.0.1, as PEM.
func ServingCertificate() (ca, cert, key []byte, err error) {
	a, err := newAuthority("operon")
	if err != nil {
		return nil, nil, nil, err
	}
	cert, key, err = a.serve()
	return a.pem, cert, key, err
}

// tokens returns the content of the API server's --token-auth-file: token, user
// name, uid, groups (kubernetes.io/docs/reference/access-authn-authz/authentication).
func (c *credentials) tokens() []byte {
	return fmt.Appendf(nil, "%s,admin,admin,\"system:masters\"\n%s,system:kube-controller-manager,system:kube-controller-manager\n",
		c.adminToken, c.controllerToken)
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(name string) (*authority, error) {
	key, _, err := newKey()
	if err != nil {
		return nil, err
	}
	cert := template(name)
	cert.IsCA, cert.BasicConstraintsValid = true, true
	cert.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	return &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// serve returns a certificate and key for a server.
func (a *authority) serve() (cert, key []byte, err error) {
	private, key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	t := template("kube-apiserver")
	t.KeyUsage = x509.KeyUsageDigitalSignature
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	t.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
	t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), firstServiceIP}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key, nil
}

func template(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)) // crypto/rand does not fail
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // clocks of virtual machines drift
		NotAfter:     now.Add(lifetime),
	}
}

// newKey returns a private key and its PEM in SEC 1 form, which the API server also
// accepts as the key for tokens.
func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
