package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// checkReplaceable returns an error if a run at serverURL must not replace or remove a
// configuration, because it belongs to a shell-operator or to another active run.
func (c *Cluster) checkReplaceable(ctx context.Context, kind kinds.Kind, o *unstructured.Unstructured, serverURL string) error {
	if o.GetLabels()[managedByLabel] != managedByValue {
		return fault.Failed("stop it, and delete its remains: kubectl --context "+c.Context+" delete "+kind.Resource+" "+o.GetName(),
			"%s %s exists: a shell-operator registered its webhooks in this cluster", kind.Kind, o.GetName())
	}
	return c.checkNotServed(ctx, o, serverURL)
}

// checkNotServed returns an error if an active run at another address than serverURL
// serves the webhooks of o. A run that was killed does not count.
func (c *Cluster) checkNotServed(ctx context.Context, o *unstructured.Unstructured, serverURL string) error {
	if _, saved := o.GetAnnotations()[conversionAnnotation]; !saved && o.GetKind() == crdKind.Kind {
		return nil // no run changed the conversion
	}
	for _, client := range clientConfigs(o) {
		address, _ := client["url"].(string)
		if address == "" || serverURL != "" && strings.HasPrefix(address, serverURL+"/") || !isServing(ctx, address, client["caBundle"]) {
			continue
		}
		server, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
		return fault.Failed("stop that run first; only hooks without webhooks can run in parallel",
			"another operon hooks run serves the webhooks of %s %s, at %s", o.GetKind(), o.GetName(), server)
	}
	return nil
}

// clientConfigs returns the clientConfig of each webhook of a configuration or a CRD.
func clientConfigs(o *unstructured.Unstructured) []map[string]any {
	var found []map[string]any
	add := func(v any) {
		if client, is := v.(map[string]any); is {
			found = append(found, client)
		}
	}
	if o.GetKind() == crdKind.Kind {
		client, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "conversion", "webhook", "clientConfig")
		add(client)
		return found
	}
	webhooks, _ := o.Object["webhooks"].([]any)
	for _, w := range webhooks {
		if webhook, is := w.(map[string]any); is {
			add(webhook["clientConfig"])
		}
	}
	return found
}

// isRedirected reports whether a webhook of o has a URL instead of a Service. A run
// that has just started has not set it yet.
func isRedirected(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(clientConfigs(o), func(client map[string]any) bool { return client["url"] != nil })
}

// isServing reports whether a server at a URL has a certificate that the CA bundle, in
// base64, verifies. Only the program that registered the bundle has the key.
func isServing(ctx context.Context, address string, bundle any) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	text, _ := bundle.(string)
	ca, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	const timeout = 5 * time.Second // a server on this machine answers immediately
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
