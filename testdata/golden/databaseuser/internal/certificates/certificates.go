/*
Copyright 2026.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Package certificates makes the certificate of the webhook server. To use cert-manager,
// run: operon edit --webhook-certs cert-manager
package certificates

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Manage makes the manager create its certificate, renew it before it expires, and add its
// certificate authority to the objects that make the API server call the manager. Every
// replica does so, not only the leader: during an upgrade, the leader can be an older
// version without certificates, which waits for the new one to get ready.
//
// config/default sets the variables. Without them, the webhook server uses the files in
// its folder, as with cert-manager.
func Manage(mgr ctrl.Manager) error {
	service, namespace := os.Getenv("WEBHOOK_SERVICE"), os.Getenv("WEBHOOK_NAMESPACE")
	if service == "" || namespace == "" {
		return nil
	}
	server, ok := mgr.GetWebhookServer().(*webhook.DefaultServer)
	if !ok {
		return fmt.Errorf("cannot set the certificate of a webhook server of type %T", mgr.GetWebhookServer())
	}
	// All names in config/default have the same prefix and suffix.
	at := max(0, strings.LastIndex(service, "webhook-service"))
	named := func(name string) string {
		return service[:at] + strings.Replace(service[at:], "webhook-service", name, 1)
	}
	secret := types.NamespacedName{Namespace: namespace, Name: named("webhook-server-cert")}
	directory := server.Options.CertDir
	serve(server, directory, mgr.GetAPIReader(), secret)
	certificate := &rotator.CertRotator{
		SecretKey:      secret,
		CertDir:        directory, // where the Secret is mounted
		CAName:         named("webhook-ca"),
		CAOrganization: namespace,
		DNSName:        service + "." + namespace + ".svc",
		IsReady:        make(chan struct{}), // nobody waits for it: it also waits for the kubelet
		Webhooks: []rotator.WebhookInfo{
			{Type: rotator.Mutating, Name: named("mutating-webhook-configuration")},
			{Type: rotator.Validating, Name: named("validating-webhook-configuration")},
			{Type: rotator.CRDConversion, Name: "databaseusers.mygroup.handsomeguy.cn"},
		},
	}
	if err := mgr.AddReadyzCheck("certificate", trusted(certificate, mgr.GetAPIReader())); err != nil {
		return err
	}
	return rotator.AddRotator(mgr, certificate)
}

// trusted fails until the API server trusts the certificate: until all objects that make it
// call the manager contain the certificate authority.
func trusted(certificate *rotator.CertRotator, reader client.Reader) healthz.Checker {
	var done atomic.Bool
	return func(r *http.Request) error {
		if done.Load() {
			return nil
		}
		var secret corev1.Secret
		if err := reader.Get(r.Context(), certificate.SecretKey, &secret); err != nil {
			return err
		}
		complete := true
		authority := base64.StdEncoding.EncodeToString(secret.Data["ca.crt"])
		for _, w := range certificate.Webhooks {
			// The manager may list these objects, but not get one.
			list := unstructured.UnstructuredList{}
			list.SetGroupVersionKind(lists[w.Type])
			if err := reader.List(r.Context(), &list, client.MatchingFields{"metadata.name": w.Name}); err != nil {
				return err
			}
			complete = complete && len(list.Items) > 0 // it may be created after the manager
			for _, object := range list.Items {
				if authority == "" || !contains(object, authority) {
					return fmt.Errorf("%s does not contain the certificate authority", w.Name)
				}
			}
		}
		done.Store(complete)
		return nil
	}
}

var lists = map[rotator.WebhookType]schema.GroupVersionKind{
	rotator.Mutating:      {Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfigurationList"},
	rotator.Validating:    {Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfigurationList"},
	rotator.CRDConversion: {Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"},
}

// contains reports whether all webhooks of an object have the certificate authority.
func contains(object unstructured.Unstructured, authority string) bool {
	webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
	if conversion, ok, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook"); ok {
		webhooks = append(webhooks, conversion)
	}
	return !slices.ContainsFunc(webhooks, func(w any) bool {
		bundle, _, _ := unstructured.NestedString(w.(map[string]any), "clientConfig", "caBundle")
		return bundle != authority
	})
}

// serve makes the server read its certificate for each new connection. The kubelet can take
// a minute to update the folder, so the first certificate comes from the API server. Without
// a certificate, connections fail, and the manager is not ready.
func serve(server *webhook.DefaultServer, directory string, reader client.Reader, secret types.NamespacedName) {
	server.Options.TLSOpts = append(server.Options.TLSOpts, func(c *tls.Config) {
		c.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			certificate, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
			if errors.Is(err, fs.ErrNotExist) {
				var s corev1.Secret
				if err := reader.Get(hello.Context(), secret, &s); err != nil {
					return nil, err
				}
				certificate, err = tls.X509KeyPair(s.Data["tls.crt"], s.Data["tls.key"])
			}
			return &certificate, err
		}
	})
}
