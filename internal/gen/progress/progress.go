// Package progress reports the progress of a run of the generators. The callback is in
// the context, because plugins are between the command that shows progress and the run.
package progress

import (
	"context"
)

// Func receives the current phase of a run, such as "generating crd", how much of it is
// done, and the total amount, which is 0 if unknown. It is called often, and by several
// goroutines.
type Func func(phase string, done, total int)

type progressKey struct{}

// With returns a context that makes a run report its progress to p.
func With(ctx context.Context, p Func) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// From returns the function that receives progress. It is never nil.
func From(ctx context.Context) Func {
	if p, ok := ctx.Value(progressKey{}).(Func); ok {
		return p
	}
	return func(string, int, int) {}
}
