package command

import (
	"context"
	"errors"
	"testing"
)

// TestAwait returns early when the context ends.
func TestAwait(t *testing.T) {
	t.Parallel()
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	if got, err := Await(ctx, func() (int, error) { return 1, nil }); got != 1 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	release := make(chan struct{})
	defer close(release)
	_, err := Await(ctx, func() (int, error) {
		cancel(cause)
		<-release
		return 1, nil
	})
	if !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}
