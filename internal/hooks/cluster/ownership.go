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

// free returns an error when a configuration is not for a run at this address to
// replace or to remove: it is that of a shell-operator, or of a run that is alive.
func (c *Cluster) checkReplaceable(ctx context.Context, kind kinds.Kind, o *unstructured.Unstructured, at string) error {
	if o.GetLabels()[owned] != ownedValue {
		return fault.Failed("end it, and delete what it left: kubectl --context "+c.Context+" delete "+kind.Resource+" "+ConfigurationName,
			"%s %s is there: a shell-operator registered its webhooks in this cluster", kind.Kind, ConfigurationName)
	}
	return c.served(ctx, o, at)
}

// served returns an error when a run at another address than this one answers what o
// has the API server ask. One that was killed answers no more.
func (c *Cluster) served(ctx context.Context, o *unstructured.Unstructured, at string) error {
	if _, kept := o.GetAnnotations()[converted]; !kept && o.GetKind() == crdKind.Kind {
		return nil // it was converted before any run
	}
	for _, client := range clients(o) {
		address, _ := client["url"].(string)
		if address == "" || at != "" && strings.HasPrefix(address, at+"/") || !answers(ctx, address, client["caBundle"]) {
			continue
		}
		server, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
		return fault.Failed("end that one first; only hooks without webhooks may run twice",
			"another operon hooks run answers the API server for %s %s, at %s", o.GetKind(), o.GetName(), server)
	}
	return nil
}

// clients are the parts of a registration or a CRD that say where webhooks are.
func clients(o *unstructured.Unstructured) []map[string]any {
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

// led reports whether a run has the API server ask it, and not a Service: one that has
// only begun has not done so yet.
func isRedirected(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(clients(o), func(client map[string]any) bool { return client["url"] != nil })
}

// answers reports whether a server is at a URL whose certificate the bundle, in
// base64, vouches for: no program but the one that registered it has the key.
func answers(ctx context.Context, address string, bundle any) bool {
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
	const enough = 5 * time.Second // on this machine the answer is there at once
	ctx, cancel := context.WithTimeout(ctx, enough)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	conn, err := dialer.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
