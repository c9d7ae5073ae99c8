package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Client is an HTTP client for an Account.
type Client struct {
	endpoint *url.URL
	http     *http.Client
}

var _ Account = (*Client)(nil)

// NewClient returns a client for the cloud with the URL endpoint.
func NewClient(endpoint string) (*Client, error) {
	base, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	if base.Host == "" {
		return nil, fmt.Errorf("%q is not the URL of a server", endpoint)
	}
	return &Client{base, &http.Client{Timeout: 10 * time.Second}}, nil
}

// Bucket implements Account.
func (c *Client) Bucket(ctx context.Context, name string) (Bucket, error) {
	var b Bucket
	err := c.do(ctx, http.MethodGet, nil, &b, "buckets", name)
	return b, err
}

// PutBucket implements Account.
func (c *Client) PutBucket(ctx context.Context, bucket Bucket) (Bucket, error) {
	var b Bucket
	err := c.do(ctx, http.MethodPut, bucket, &b, "buckets", bucket.Name)
	return b, err
}

// DeleteBucket implements Account.
func (c *Client) DeleteBucket(ctx context.Context, name string) error {
	return ignoreNotFound(c.do(ctx, http.MethodDelete, nil, nil, "buckets", name))
}

// PutUser implements Account.
func (c *Client) PutUser(ctx context.Context, bucket string) (Key, error) {
	var k Key
	err := c.do(ctx, http.MethodPut, nil, &k, "users", bucket)
	return k, err
}

// DeleteUser implements Account.
func (c *Client) DeleteUser(ctx context.Context, bucket string) error {
	return ignoreNotFound(c.do(ctx, http.MethodDelete, nil, nil, "users", bucket))
}

func ignoreNotFound(err error) error {
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// do sends in as JSON and decodes the response into out. Both can be nil. Its errors are shown
// in the status of objects.
func (c *Client) do(ctx context.Context, method string, in, out any, path ...string) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return err
		}
	}
	target := c.endpoint.JoinPath(path...)
	req, err := http.NewRequestWithContext(ctx, method, target.String(), &body)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if err := failure(res.StatusCode); err != nil {
		return fmt.Errorf("%s %s: %w", method, target.Path, err)
	}
	if out == nil {
		return nil
	}
	return json.NewDecoder(res.Body).Decode(out)
}

func failure(status int) error {
	switch {
	case status < 300:
		return nil
	case status == http.StatusNotFound:
		return ErrNotFound
	case status == http.StatusTooManyRequests:
		return ErrBusy
	case status >= 400 && status < 500:
		return fmt.Errorf("%w: %s", ErrRefused, http.StatusText(status))
	}
	return errors.New(http.StatusText(status))
}
