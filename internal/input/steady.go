package input

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// ErrSlow is the error for a server that sends almost nothing.
var ErrSlow = errors.New("the server sends less than 1 KiB a second")

// A server must send minBytes in each window.
const (
	window   = 20 * time.Second
	minBytes = 20 << 10
)

// Steady returns a transport whose responses end: reading one fails if the server stops sending, or sends almost nothing.
// The time between two reads does not count.
func Steady(base http.RoundTripper) http.RoundTripper { return steady{base, window, minBytes} }

type steady struct {
	base   http.RoundTripper
	window time.Duration
	least  int // bytes in a window
}

func (s steady) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	response, err := s.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	response.Body = &steadyBody{ReadCloser: response.Body, steady: s, ctx: ctx, cancel: cancel}
	return response, nil
}

// steadyBody is the body of a response of [Steady].
type steadyBody struct {
	io.ReadCloser
	steady
	ctx    context.Context
	cancel context.CancelCauseFunc

	waited time.Duration // in the current window
	got    int           // bytes
}

func (b *steadyBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(b.window, func() { b.cancel(ErrSlow) })
	start := time.Now()
	n, err := b.ReadCloser.Read(p)
	timer.Stop()
	if err != nil && errors.Is(context.Cause(b.ctx), ErrSlow) {
		return n, ErrSlow
	}
	b.waited += time.Since(start)
	b.got += n
	if b.waited >= b.window {
		if err == nil && b.got < b.least {
			err = ErrSlow
		}
		b.waited, b.got = 0, 0
	}
	return n, err
}

func (b *steadyBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}
