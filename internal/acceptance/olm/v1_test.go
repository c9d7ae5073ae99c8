//go:build testall

package olm

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

const (
	extensionKind = "olm.operatorframework.io/v1/clusterextensions"
	catalogKind   = "olm.operatorframework.io/v1/clustercatalogs"
)

// images are those that OLM v1 pulls.
type images struct{ host string }

// push pushes the bundle in a folder, and returns its reference.
func (i images) push(t *testing.T, folder, name string) string {
	t.Helper()
	ref := i.host + "/" + name
	operontest.Run(t, folder, "bundle", "image", ".", "--image", ref, "--push", "--plain-http")
	return ref
}

// installV1 installs OLM v1 with operon from its CRDs and two Deployments, and runs its programs. The
// registry is one that they can pull from.
func (c *controlPlane) installV1(t *testing.T) images {
	t.Helper()
	module := peertest.Module(t, "github.com/operator-framework/operator-controller")
	folder := t.TempDir()
	for _, part := range []string{"catalogd", "operator-controller"} {
		treetest.Write(t, filepath.Join(folder, part), treetest.Read(t, filepath.Join(module, "config", "base", part, "crd", "bases")))
	}
	for i, name := range []string{"catalogd-controller-manager", "operator-controller-controller-manager"} {
		treetest.WriteFile(t, filepath.Join(folder, fmt.Sprintf("%d.yaml", i)), strings.NewReplacer("olm-operator", name, "namespace: olm", "namespace: olmv1-system", "name: olm}", "name: olmv1-system}").Replace(manifestsV1))
	}
	c.expect(t, 0, []string{"installed OLM"}, "olm", "install", folder)

	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	home, cert := t.TempDir(), certificate(t)
	treetest.WriteFile(t, filepath.Join(home, ".config", "containers", "registries.conf"), fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", host))
	address := freeAddress(t)
	_, webhooks, _ := net.SplitHostPort(freeAddress(t))
	shared := []string{"--system-namespace=olmv1-system", "--health-probe-bind-address=0"}
	c.program(t, []string{"HOME=" + home}, "catalogd", append(shared, "--cache-dir="+t.TempDir(),
		"--catalogs-server-addr="+address, "--external-address="+address, "--metrics-bind-address=127.0.0.1:0", "--webhook-server-port="+webhooks,
		"--tls-cert="+filepath.Join(cert, "tls.crt"), "--tls-key="+filepath.Join(cert, "tls.key"))...)
	c.program(t, []string{"HOME=" + home}, "operator-controller", append(shared, "--cache-path="+t.TempDir(), "--catalogd-cas-dir="+cert)...)
	t.Cleanup(func() { c.expect(t, 0, []string{"removed OLM"}, "olm", "uninstall", folder) })
	return images{host}
}

const manifestsV1 = `apiVersion: apps/v1
kind: Deployment
metadata: {name: olm-operator, namespace: olm}
spec:
  selector: {matchLabels: {app: olm-operator}}
  template:
    metadata: {labels: {app: olm-operator}}
    spec: {containers: [{name: manager, image: example.org/olm:v1}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: olm}
`

// freeAddress returns an address on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// certificate returns a folder with a certificate of 127.0.0.1 and its key.
func certificate(t *testing.T) (folder string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	treetest.WriteFile(t, filepath.Join(folder, "tls.crt"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})))
	treetest.WriteFile(t, filepath.Join(folder, "tls.key"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	return folder
}

// testOnlyV1 expects that a cluster with only OLM v1 is recognized.
func testOnlyV1(t *testing.T, c *controlPlane, v1 images) {
	t.Helper()
	folder := bundles(t, "s3-operator", map[string]string{"0.1.0": "example.org/s3:v1"})("0.1.0")
	c.expect(t, 0, []string{`"v1"`, "clusterextensions.olm.operatorframework.io"}, "olm", "status", "--output", "json")
	c.expect(t, 2, []string{"OLM v1 pulls the image of the bundle, and", "hint:  push it: operon bundle image"}, "run", "bundle", folder, "-n", "default")
	c.expect(t, 2, []string{"--local cannot be used here: OLM v1 installs only from images"}, "run", "bundle", folder, "--local", "-n", "default")
	ref := v1.push(t, folder, "first:v1")
	c.expect(t, 2, []string{"OLM v1 installs s3-operator only from the image of a catalog", "hint:  name an image that operon can push"}, "run", "bundle", ref, "--plain-http", "-n", "default")
	c.expect(t, 0, []string{"nothing to do", "package s3-operator is not installed"}, "cleanup", "s3-operator", "-n", "default")
}

// testV1 installs, upgrades and removes operators with OLM v1, on a cluster that also has OLM v0.
func testV1(t *testing.T, c *controlPlane, v1 images) {
	const ns, pkg = "s3-system", "s3-operator"
	folder := bundles(t, pkg, map[string]string{
		"0.1.0": "example.org/s3:v1", "0.2.0": "example.org/s3:v2", "0.3.0": "example.org/" + broken + ":v3", "0.4.0": "example.org/s3:v4",
	})
	crd := filepath.Join(folder("0.4.0"), "manifests", "systek.no_s3s.yaml")
	src, err := os.ReadFile(crd)
	if err != nil {
		t.Fatal(err)
	}
	treetest.WriteFile(t, crd, strings.Replace(string(src), "scope: Namespaced", "scope: Cluster", 1))
	ref := map[string]string{}
	for _, version := range []string{"0.1.0", "0.2.0", "0.3.0", "0.4.0"} {
		ref[version] = v1.push(t, folder(version), "bundle:v"+version)
	}
	catalog := []string{"--catalog-image", v1.host + "/catalog:latest", "--plain-http", "-n", ns}
	run := func(want int, parts []string, args ...string) {
		t.Helper()
		c.expect(t, want, parts, append(append([]string{"run"}, args...), catalog...)...)
	}
	run(2, []string{"namespace " + ns + " does not exist"}, "bundle", ref["0.1.0"])
	c.namespace(t, ns)
	before := c.snapshot(t, ns, pkg)
	run(2, []string{"package s3-operator is not installed in namespace " + ns}, "bundle-upgrade", ref["0.1.0"])
	run(2, []string{"s3-operator.v0.1.0 supports AllNamespaces, not OwnNamespace"}, "bundle", ref["0.1.0"], "--install-mode", "OwnNamespace")

	c.expect(t, 1, []string{ref["0.1.0"] + " exists, and operon run bundle did not push it"}, "run", "bundle", ref["0.1.0"], "--catalog-image", ref["0.1.0"], "--plain-http", "-n", ns)

	run(0, []string{"created ClusterCatalog operon-s3-operator", "created ClusterRole s3-operator-installer", "installed s3-operator.v0.1.0 in namespace " + ns}, "bundle", ref["0.1.0"])
	run(0, []string{"nothing to do"}, "bundle", ref["0.1.0"])
	run(2, []string{"has s3-operator.v0.1.0 already", "hint:  upgrade it"}, "bundle", ref["0.2.0"])

	c.expect(t, 2, []string{"has s3-operator.v0.1.0 already", "hint:  upgrade it"}, "run", "bundle", ref["0.2.0"], "--plain-http", "-n", ns) // not with OLM v0
	c.expect(t, 0, []string{"pushing " + v1.host + "/catalog:latest", "changed ClusterExtension s3-operator", "upgraded to s3-operator.v0.2.0"},
		"run", "bundle-upgrade", ref["0.2.0"], "--plain-http", "-n", ns)
	run(0, []string{"nothing to do"}, "bundle-upgrade", ref["0.2.0"])
	run(2, []string{"version 0.1.0 is not later"}, "bundle-upgrade", ref["0.1.0"])
	spec := c.get(t, extensionKind, "", pkg, "spec")
	served := c.get(t, catalogKind, "", "operon-s3-operator", "spec")
	run(1, []string{
		"container manager waits: InvalidImageName: cannot parse it", "s3-operator.v0.2.0 is installed again", "undid all changes",
	}, "bundle-upgrade", ref["0.3.0"])
	run(1, []string{
		"error: OLM cannot install s3-operator.v0.4.0: ", "scope", "hint:  keep what existing objects need", "undid all changes",
	}, "bundle-upgrade", ref["0.4.0"])
	c.runUntilPod(t, ns, broken, syscall.SIGKILL, append([]string{"run", "bundle-upgrade", ref["0.3.0"]}, catalog...)...)
	run(0, []string{"restoring s3-operator.v0.2.0: its upgrade was interrupted", "nothing to do"}, "bundle-upgrade", ref["0.2.0"])
	if now := c.get(t, extensionKind, "", pkg, "spec"); now != spec {
		t.Errorf("after failed upgrades, the spec is %s, was %s", now, spec)
	}
	if now := c.get(t, catalogKind, "", "operon-s3-operator", "spec"); now != served {
		t.Errorf("after failed upgrades, the spec of the catalog is %s, was %s", now, served)
	}
	if now := c.get(t, "apps/v1/deployments", ns, "s3-operator-controller-manager", "spec", "template", "spec", "containers"); !strings.Contains(now, "example.org/s3:v2") {
		t.Errorf("after failed upgrades, the Deployment is %s", now)
	}
	c.expectStatus(t, pkg, ns, "Installed")

	c.expect(t, 2, []string{"OLM v1 deletes the CRDs of s3-operator"}, "cleanup", pkg, "-n", ns, "--delete-all=false")
	c.expect(t, 0, []string{"nothing to do", "package s3-operator is in namespace " + ns}, "cleanup", pkg, "-n", "default")
	c.expect(t, 0, []string{"removed s3-operator from namespace " + ns}, "cleanup", pkg, "-n", ns)
	c.unchanged(t, before, ns, pkg)
	testV1Failures(t, c, v1, ns)
}

// testV1Failures expects that nothing is left of bundles that OLM v1 cannot install, and of an
// interrupted command.
func testV1Failures(t *testing.T, c *controlPlane, v1 images, ns string) {
	t.Helper()
	before := c.snapshot(t, ns, "s3-operator", "operon-marina", "marina-installer")
	flags := func(tag string) []string {
		return []string{"--catalog-image", v1.host + "/failures:" + tag, "--plain-http", "-n", ns}
	}
	folder := bundles(t, "harbor", map[string]string{"0.1.0": "example.org/harbor:v1"})("0.1.0")
	for name, content := range treetest.Read(t, folder) { // another operator than that of OLM v0
		content = strings.NewReplacer("harbor", "marina", "port.example.org", "quay.example.org").Replace(content)
		treetest.WriteFile(t, filepath.Join(folder, name), content)
	}
	marina := v1.push(t, folder, "marina:v1")
	c.expect(t, 1, []string{
		"error: OLM cannot install marina.v0.1.0: ", "webhookDefinitions are not supported", "undid all changes in the cluster; the image of the catalog stays",
	}, append([]string{"run", "bundle", marina}, flags("marina")...)...)
	c.unchanged(t, before, ns, "s3-operator", "operon-marina", "marina-installer")

	ref := v1.push(t, bundles(t, "s3-operator", map[string]string{"0.1.0": "example.org/" + slow + ":v1"})("0.1.0"), "slow:v1")
	code, stderr := c.runUntilPod(t, ns, slow, syscall.SIGINT, append([]string{"run", "bundle", ref}, flags("s3")...)...)
	if code != 130 || !strings.Contains(stderr, "undid all changes") {
		t.Errorf("exit code %d", code)
	}
	c.unchanged(t, before, ns, "s3-operator", "operon-marina", "marina-installer")
}
