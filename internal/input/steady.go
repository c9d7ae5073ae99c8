package input

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// ErrSlow is the error for a server that sends, or takes, almost nothing.
var ErrSlow = errors.New("less than 1 KiB a second goes to the server, or comes from it")

// At least minBytes must go in each window.
const (
	window   = 20 * time.Second
	minBytes = 20 << 10
)

// Steady returns a transport whose requests and responses end: they fail if the server stops, or takes or sends almost nothing.
// The time in which the program makes the request or uses the response does not count.
func Steady(base http.RoundTripper) http.RoundTripper { return steady{base, window, minBytes} }

type steady struct {
	base   http.RoundTripper
	window time.Duration
	least  int // bytes in a window
}

func (s steady) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	p := pace{steady: s, cancel: cancel}
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		body := &sent{ReadCloser: r.Body, pace: p, timer: p.expect()}
		body.timer.Stop() // until the transport has connected
		r.Body = body
	}
	response, err := s.base.RoundTrip(r)
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrSlow) {
			err = ErrSlow
		}
		cancel(nil)
		return nil, err
	}
	response.Body = &received{ReadCloser: response.Body, pace: p, ctx: ctx}
	return response, nil
}

// pace measures how fast the server is.
type pace struct {
	steady
	cancel context.CancelCauseFunc

	waited time.Duration // for the server, in the current window
	got    int           // bytes
}

// expect returns a timer that ends the request with [ErrSlow], unless it is stopped.
func (p *pace) expect() *time.Timer {
	return time.AfterFunc(p.window, func() { p.cancel(ErrSlow) })
}

// add adds what the server has taken or sent in a time. It returns [ErrSlow] at the end of a window that had too little.
func (p *pace) add(n int, took time.Duration) (err error) {
	p.waited += took
	p.got += n
	if p.waited >= p.window {
		if p.got < p.least {
			err = ErrSlow
		}
		p.waited, p.got = 0, 0
	}
	return err
}

// sent is the body of a request. The server takes what was read until the transport reads again.
type sent struct {
	io.ReadCloser
	pace
	timer  *time.Timer // runs while the server takes the body
	closed atomic.Bool // the transport can close the body while it reads

	n     int       // bytes that the server takes
	since time.Time // when it began to
}

func (b *sent) Read(p []byte) (n int, err error) {
	b.timer.Stop()
	if b.n > 0 {
		err = b.add(b.n, time.Since(b.since))
	}
	if err == nil {
		n, err = b.ReadCloser.Read(p)
	}
	b.n, b.since = n, time.Now()
	if err == nil {
		b.timer.Reset(b.window)
	}
	if b.closed.Load() {
		b.timer.Stop()
	}
	return n, err
}

func (b *sent) Close() error {
	b.closed.Store(true)
	b.timer.Stop()
	return b.ReadCloser.Close()
}

// received is the body of a response.
type received struct {
	io.ReadCloser
	pace
	ctx context.Context
}

func (b *received) Read(p []byte) (int, error) {
	timer := b.expect()
	start := time.Now()
	n, err := b.ReadCloser.Read(p)
	timer.Stop()
	if err != nil && errors.Is(context.Cause(b.ctx), ErrSlow) {
		return n, ErrSlow
	}
	if slow := b.add(n, time.Since(start)); err == nil {
		err = slow
	}
	return n, err
}

func (b *received) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}
