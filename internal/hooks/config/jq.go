package config

import (
	"context"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"
)

// CheckJQ returns an error for a filter that does not compile, or that does not end for a
// small object. The engine has no time limit: such a filter would block its queue for ever.
func CheckJQ(filter string) error {
	if filter == "" {
		return nil
	}
	query, err := gojq.Parse(filter)
	if err != nil {
		return fmt.Errorf("jq: %w", err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return fmt.Errorf("jq: %w", err)
	}
	ctx := &stepLimit{Context: context.Background(), left: maxSteps, done: make(chan struct{})}
	object := map[string]any{"metadata": map[string]any{"name": "name", "namespace": "namespace"}}
	for iter := code.RunWithContext(ctx, object); ; {
		result, more := iter.Next()
		if err, failed := result.(error); failed && errors.Is(err, errSteps) {
			return fmt.Errorf("jq: %w", err)
		} else if !more || failed {
			return nil // a filter may fail for an object without its fields
		}
	}
}

// maxSteps is the number of steps that a filter may take for a small object. Other filters
// take less than a thousand. A million takes about 0.1 seconds.
const maxSteps = 1_000_000

var errSteps = errors.New("the filter does not end")

// stepLimit is a context that ends after a number of steps. gojq asks it before each step.
// Unlike a timeout, it gives the same result on all machines.
type stepLimit struct {
	context.Context
	left int
	done chan struct{}
}

// Done implements context.Context.
func (c *stepLimit) Done() <-chan struct{} {
	if c.left--; c.left == 0 {
		close(c.done)
	}
	return c.done
}

// Err implements context.Context.
func (c *stepLimit) Err() error {
	if c.left > 0 {
		return nil
	}
	return errSteps
}
