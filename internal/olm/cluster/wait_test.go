//go:build testall

package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operon-dev/operon/internal/fault"
)

// TestExplain checks what the user sees of a request that the context has ended.
func TestExplain(t *testing.T) {
	t.Parallel()
	timedOut, cancel := WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-timedOut.Done()
	interrupted, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("interrupted"))
	for _, tt := range []struct {
		ctx       context.Context
		msg, hint string
	}{
		{t.Context(), "refused", ""},
		{timedOut, "not done after 1ns", "allow more time with --timeout"},
		{interrupted, "interrupted", ""},
	} {
		if err := explain(tt.ctx, errors.New("refused")); err.Error() != tt.msg || fault.HintOf(err) != tt.hint {
			t.Errorf("got %q with the hint %q, want %q with %q", err, fault.HintOf(err), tt.msg, tt.hint)
		}
	}
}

// TestNestedWait expects that an error names what a wait within another one has waited for.
func TestNestedWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		ctx, cancel := WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := c.removeUntilGone(ctx, func() (string, error) {
			return "the outer", c.until(ctx, func() (bool, string, error) { return false, "the inner", nil })
		})
		if err == nil || err.Error() != "not done after 1m0s: the inner" {
			t.Errorf("error %v", err)
		}
	})
}
