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
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
	return rotator.AddRotator(mgr, &rotator.CertRotator{
		SecretKey:      secret,
		CertDir:        directory, // where the Secret is mounted
		CAName:         named("webhook-ca"),
		CAOrganization: namespace,
		DNSName:        service + "." + namespace + ".svc",
		IsReady:        make(chan struct{}), // nobody waits: the readiness check needs a certificate, too
		Webhooks: []rotator.WebhookInfo{
			{Type: rotator.Mutating, Name: named("mutating-webhook-configuration")},
			{Type: rotator.Validating, Name: named("validating-webhook-configuration")},
			{Type: rotator.CRDConversion, Name: "databaseusers.mygroup.handsomeguy.cn"},
		},
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
