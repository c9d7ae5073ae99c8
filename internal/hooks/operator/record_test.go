//go:build testall

package operator

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	k8s "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// engine runs the real engine. It returns the URLs of its webhooks by name; the name of
// the conversion webhook is empty.
func (s *fixture) engine(program string) (*http.Client, map[string]string) {
	s.Helper()
	c := open(s.T, servertest.Start(s.T))
	for _, o := range s.CRDs {
		k, err := c.Kind(s.Context(), "apiextensions.k8s.io/v1", "CustomResourceDefinition")
		if err == nil {
			_, err = c.Create(s.Context(), k, &unstructured{Object: o})
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	home, err := c.NewKubeconfigDir()
	if err != nil {
		s.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home.Path(), "tmp"), 0o700); err != nil {
		s.Fatal(err)
	}
	var log bytes.Buffer
	ctx, end := context.WithCancel(s.Context())
	var running sync.WaitGroup
	running.Go(func() {
		p := Program{Path: program, Hooks: filepath.Join(s.dir, "hooks"), Cluster: c, Home: home, Env: append(os.Environ(), home.Env()...), Out: &log, Err: &log,
			Warn: func(err error) { s.Log(err) }}
		if err := p.Run(ctx, s.hooks); err != nil {
			s.Error(err)
		}
	})
	s.Cleanup(func() {
		end()
		running.Wait()
		home.Remove()
		if s.Failed() {
			s.Log(log.String())
		}
	})
	addresses := map[string]string{}
	within(s.T, "the engine registers its webhooks", func() error {
		for resource, name := range map[string]string{"validatingwebhookconfigurations": cluster.ConfigurationName, "mutatingwebhookconfigurations": cluster.ConfigurationName} {
			o, err := c.Get(s.Context(), kinds.Kind{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}, "", name)
			if err != nil {
				return err
			}
			webhooks, _, _ := k8s.NestedSlice(o.Object, "webhooks")
			for _, w := range webhooks {
				webhook, _, _ := k8s.NestedString(w.(map[string]any), "name")
				url, _, _ := k8s.NestedString(w.(map[string]any), "clientConfig", "url")
				if addresses[webhook] = url; url == "" {
					return fmt.Errorf("webhook %s has URL %v", webhook, w)
				}
			}
		}
		o, err := c.Get(s.Context(), kinds.Kind{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}, "", crd)
		if err != nil {
			return err
		}
		url, _, _ := k8s.NestedString(o.Object, "spec", "conversion", "webhook", "clientConfig", "url")
		if addresses[""] = url; url == "" {
			return fmt.Errorf("the conversion webhook of the CRD is not on this machine")
		}
		return nil
	})
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}, addresses
}
