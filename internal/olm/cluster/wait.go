package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/podstate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// poll is the interval between requests while a command waits.
const poll = 200 * time.Millisecond

// timeoutError is the cause of a context that ends because of a time limit.
type timeoutError struct{ after time.Duration }

func (e timeoutError) Error() string { return fmt.Sprintf("not done after %s", e.after) }

// WithTimeout limits the time of a task.
func WithTimeout(ctx context.Context, after time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, after, timeoutError{after})
}

// until calls check until it reports that the condition is met. reason says what is
// missing; it is part of the error when the time is over. It repeats a check that fails because
// the API server is not available for some time.
func (c *Client) until(ctx context.Context, check func() (done bool, reason string, err error)) error {
	defer c.Wait("")
	var last string
	for {
		done, reason, err := check()
		if retriable(err) {
			done, reason, err = false, err.Error(), nil
		}
		switch {
		case ctx.Err() != nil:
			if inner, ok := errors.AsType[*fault.Error](err); ok && inner.Err != nil {
				return err // of a wait within the check, which knows more
			}
			return waitError(ctx, last)
		case err != nil || done:
			return err
		}
		last = reason
		c.Wait(reason)
		select {
		case <-ctx.Done():
			return waitError(ctx, last)
		case <-time.After(poll):
		}
	}
}

// stablePolls is the number of polls after which OLM is expected to create nothing more: it works on what
// it has read before an object was deleted.
const stablePolls = 5

// removeUntilGone calls remove until it has found nothing several times in sequence. remove says what it
// has found, or "".
func (c *Client) removeUntilGone(ctx context.Context, remove func() (found string, err error)) error {
	clean := 0
	return c.until(ctx, func() (bool, string, error) {
		found, err := remove()
		if clean++; found != "" || err != nil {
			clean = 0
		}
		return clean == stablePolls, cmp.Or(found, "OLM may create an object again"), err
	})
}

// retriable reports whether a request may succeed when it is repeated.
func retriable(err error) bool {
	if err == nil {
		return false
	}
	_, network := errors.AsType[*net.OpError](err)
	return network || utilnet.IsProbableEOF(err) || utilnet.IsHTTP2ConnectionLost(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err)
}

// isTimeout reports whether a context has ended because of a time limit.
func isTimeout(ctx context.Context) bool {
	_, ok := errors.AsType[timeoutError](context.Cause(ctx))
	return ok
}

// waitError is the error of a request or a wait that the context has ended. The reason, or "", says what
// was missing.
func waitError(ctx context.Context, reason string) error {
	cause := context.Cause(ctx)
	if !isTimeout(ctx) {
		return cause
	}
	hint := "allow more time with --timeout"
	if podstate.IsPull(reason) {
		hint = "push the image, or give the cluster access to its registry; --timeout allows more time"
	}
	err := fault.Failed(hint, "%v", cause)
	if reason != "" {
		err.Err = errors.New(reason)
	}
	return err
}
