package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// issuer is the certificate authority of the webhook servers; in a cluster
// cert-manager is.
type issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// authority is the one that the installed objects trust.
var authority = sync.OnceValue(func() *issuer {
	key := newKey()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "operon e2e"}, SerialNumber: big.NewInt(1),
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	return &issuer{must(x509.ParseCertificate(der)), key}
})

// bundle is the value of a caBundle field.
func (a *issuer) bundle() string {
	return base64.StdEncoding.EncodeToString(encode("CERTIFICATE", a.certificate.Raw))
}

// certify writes a new certificate and its key into the folder that the webhook
// server reads; a second time it replaces them.
func (i *installation) certify(t *testing.T) *x509.Certificate {
	t.Helper()
	key := newKey()
	template := &x509.Certificate{
		SerialNumber: must(rand.Int(rand.Reader, big.NewInt(1<<62))),
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	a := authority()
	der := must(x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key))
	for name, content := range map[string][]byte{
		"tls.crt": encode("CERTIFICATE", der),
		"tls.key": encode("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(key))),
	} {
		if err := os.WriteFile(filepath.Join(i.certs, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return must(x509.ParseCertificate(der))
}

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// must is for what fails on broken machines only.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
