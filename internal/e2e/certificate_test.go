//go:build testall

package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// issuer is the certificate authority of the webhook servers. In a cluster, cert-manager does
// its work.
type issuer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// authority is the issuer that the installed objects trust.
var authority = sync.OnceValue(newIssuer)

func newIssuer() *issuer {
	key := newKey()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "operon e2e"}, SerialNumber: newSerial(),
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	return &issuer{must(x509.ParseCertificate(der)), key}
}

// bundle returns the value of a caBundle field for some authorities.
func bundle(authorities ...*issuer) string {
	var text []byte
	for _, a := range authorities {
		text = append(text, encode("CERTIFICATE", a.certificate.Raw)...)
	}
	return base64.StdEncoding.EncodeToString(text)
}

// certify replaces the certificate and the key in the folder of a server. As in a mounted
// Secret, both files are links into a folder that is replaced as a whole.
func (a *issuer) certify(t *testing.T, folder string) {
	t.Helper()
	key := newKey()
	template := &x509.Certificate{
		SerialNumber: newSerial(),
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der := must(x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key))
	mount(t, folder, encode("CERTIFICATE", der), encode("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(key))))
}

// mount replaces the certificate and the key in a folder as the kubelet does with a Secret.
func mount(t *testing.T, folder string, certificate, key []byte) {
	t.Helper()
	next := must(os.MkdirTemp(folder, "..20260101_"))
	data := filepath.Join(folder, "..data")
	previous, _ := os.Readlink(data) // "" at first
	err := errors.Join(
		os.WriteFile(filepath.Join(next, "tls.crt"), certificate, 0o600),
		os.WriteFile(filepath.Join(next, "tls.key"), key, 0o600),
		os.Symlink(filepath.Base(next), data+"_tmp"),
		os.Rename(data+"_tmp", data),
	)
	if previous == "" {
		err = errors.Join(err,
			os.Symlink(filepath.Join("..data", "tls.crt"), filepath.Join(folder, "tls.crt")),
			os.Symlink(filepath.Join("..data", "tls.key"), filepath.Join(folder, "tls.key")))
	} else {
		err = errors.Join(err, os.RemoveAll(filepath.Join(folder, previous)))
	}
	if err != nil {
		t.Error(err) // mount may run in another goroutine
	}
}

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

func newSerial() *big.Int { return must(rand.Int(rand.Reader, big.NewInt(1<<62))) }

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// must panics on errors that only a broken machine causes.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
