//go:build testall

package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// keepMounted does what the kubelet does with the Secret of a manager that makes its
// certificates: it copies it into the folder of the webhook server whenever it changes.
func (i *installation) keepMounted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		var mounted []byte
		for ctx.Err() == nil {
			crt, key, _ := i.secret(ctx)
			if len(crt) > 0 && len(key) > 0 && !bytes.Equal(crt, mounted) {
				mount(t, i.certs, crt, key)
				mounted = crt
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
}

// secret returns the certificate, the key and the certificate authority of the webhook server.
func (i *installation) secret(ctx context.Context) (crt, key, ca []byte) {
	secret, err := i.cluster.client.CoreV1().Secrets(i.namespace).Get(ctx, i.prefix+"webhook-server-cert", metav1.GetOptions{})
	if err != nil {
		return nil, nil, nil
	}
	return secret.Data["tls.crt"], secret.Data["tls.key"], secret.Data["ca.crt"]
}

// testTrusted starts a manager that may not write its certificate authority anywhere. It must
// not get ready until it can: the API server would refuse its certificate.
func testTrusted(t *testing.T, i *installation) *manager {
	t.Helper()
	role := i.named(t, "ClusterRole", "certificates-role")
	limited := role.DeepCopy()
	limited.Object["rules"] = slices.DeleteFunc(at(limited, "rules").([]any), func(rule any) bool {
		return slices.Contains(rule.(map[string]any)["verbs"].([]any), any("update"))
	})
	i.cluster.apply(t, limited)
	i.awaitPermission(t, false, i.prefix+"controller-manager", authorizationv1.ResourceAttributes{
		Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions", Name: "volumes." + volumeGroup, Verb: "update",
	})
	m := i.launch(t)
	m.unreviewed = true
	eventually(t, "try to write the authority", func() error {
		if !strings.Contains(m.logs(), "Error updating webhook with certificate") {
			return errors.New("it has not tried")
		}
		return nil
	})
	if err := m.wantUnready("certificate"); err != nil {
		t.Error(err)
	}
	i.cluster.apply(t, role)
	m.awaitReady(t)
	i.service.add(m.webhook)
	return m
}

// testSelfCerts checks that a manager is ready before the kubelet has mounted the certificate,
// that the API server trusts it for all its webhooks, and that replicas replace a certificate
// and its authority while they are called.
func testSelfCerts(t *testing.T, i *installation, first *manager, stored *unstructured.Unstructured) {
	i.wantTrust(t)
	folder := t.TempDir()
	second := i.launch(t, "--webhook-cert-path="+folder)
	second.awaitReady(t)
	crt, key, ca := i.secret(t.Context())
	mount(t, folder, crt, key)

	calls := repeat(t, func(ctx context.Context) error { return i.callVolumes(ctx, stored) })
	calls.wantSuccess(t, "with the first certificate")
	secret := object("v1", "Secret", i.namespace, i.prefix+"webhook-server-cert")
	patched(t, secret, `{"data":{"tls.crt":null}}`)
	eventually(t, "renew the certificate", func() error {
		nextCrt, _, nextCA := i.secret(t.Context())
		if len(nextCrt) == 0 || bytes.Equal(crt, nextCrt) || !bytes.Equal(ca, nextCA) {
			return errors.New("the certificate is the old one, or its authority is not")
		}
		return nil
	})
	calls.wantSuccess(t, "with the second certificate")
	calls.stop()

	patched(t, secret, `{"data":{"ca.crt":null}}`)
	eventually(t, "replace the authority", func() error {
		if _, _, next := i.secret(t.Context()); len(next) == 0 || bytes.Equal(ca, next) {
			return errors.New("the authority is the old one")
		}
		return nil
	})
	eventually(t, "call the manager again", func() error { return i.callVolumes(t.Context(), stored) })
	i.wantTrust(t)

	// The other replica serves alone, also with the next certificate.
	i.service.add(second.webhook)
	crt, key, _ = i.secret(t.Context())
	mount(t, folder, crt, key)
	first.stop(t)
	eventually(t, "call the other replica", func() error { return i.callVolumes(t.Context(), stored) })
	second.stop(t)
}

// wantTrust waits until all objects that make the API server call the manager contain its
// certificate authority.
func (i *installation) wantTrust(t *testing.T) {
	t.Helper()
	for _, o := range ofKind(i.objects, "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "CustomResourceDefinition") {
		eventually(t, "trust "+o.GetName(), func() error {
			_, _, ca := i.secret(t.Context())
			now, err := i.cluster.get(t, o)
			if err != nil {
				return err
			}
			for _, w := range webhooks(now) {
				if at(&unstructured.Unstructured{Object: w}, "clientConfig", "caBundle") != base64.StdEncoding.EncodeToString(ca) {
					return errors.New("it contains another certificate authority")
				}
			}
			return nil
		})
	}
}

// callVolumes makes the API server call the manager to default, validate and convert.
func (i *installation) callVolumes(ctx context.Context, stored *unstructured.Unstructured) error {
	volumes := i.cluster.dynamic.Resource(volumeResource("v2")).Namespace(stored.GetNamespace())
	volume := stored.DeepCopy()
	volume.SetName("dry-run")
	_, err := volumes.Create(ctx, volume, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	_, converted := i.cluster.dynamic.Resource(volumeResource("v1")).Namespace(stored.GetNamespace()).Get(ctx, stored.GetName(), metav1.GetOptions{})
	_, read := volumes.Get(ctx, stored.GetName(), metav1.GetOptions{})
	return errors.Join(err, converted, read)
}
