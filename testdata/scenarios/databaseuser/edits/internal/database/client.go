package database

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Client is an HTTP client for a Database. PUT /users/NAME has the password as its body;
// DELETE /users/NAME has no body. The body of an error response is the message.
type Client struct {
	URL string // of the server, without the path
}

// SetUser implements Database.
func (c Client) SetUser(ctx context.Context, name, password string) error {
	return c.do(ctx, http.MethodPut, name, password)
}

// DropUser implements Database.
func (c Client) DropUser(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, name, "")
}

func (c Client) do(ctx context.Context, method, name, body string) error {
	target := c.URL + "/users/" + url.PathEscape(name)
	request, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode < http.StatusMultipleChoices:
		return nil
	case response.StatusCode == http.StatusNotFound && method == http.MethodDelete:
		return nil
	}
	why, err := io.ReadAll(io.LimitReader(response.Body, 200))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return fmt.Errorf("%w: %s", ErrRefused, strings.TrimSpace(string(why)))
}
