package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/input"
)

const (
	// poll is the time between checks of a starting control plane.
	poll = 10 * time.Millisecond
	// startTimeout limits the start, which takes seconds, or minutes on a busy machine.
	startTimeout = 3 * time.Minute
)

// client calls the API server as administrator.
type client struct {
	http  http.Client
	url   string
	token string
}

func newClient(c *credentials, port int) *client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.ca)
	return &client{
		http: http.Client{
			Timeout:   10 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
		},
		url:   serverURL(port),
		token: c.adminToken,
	}
}

// get returns the body of a response with status 200.
func (c *client) get(ctx context.Context, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := input.ReadAll(resp.Body, input.Data)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", path, resp.Status, strings.TrimSpace(string(body)))
	}
	return body, err
}

// until polls a path until the response has status 200.
func (c *client) until(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready within %s", startTimeout))
	defer cancel()
	for {
		_, err := c.get(ctx, path)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(poll):
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("%w: %w", context.Cause(ctx), err)
			}
			return context.Cause(ctx)
		}
	}
}

// version returns the version of the API server, such as v1.37.1.
func (c *client) version(ctx context.Context) (string, error) {
	body, err := c.get(ctx, "/version")
	if err != nil {
		return "", err
	}
	var v struct{ GitVersion string }
	err = json.Unmarshal(body, &v)
	return v.GitVersion, err
}
