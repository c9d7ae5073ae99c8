// Package progress reports how far a run of the generators is. The callback travels in
// the context, because plugins stand between the command that shows progress and the
// run.
package progress

import (
	"context"
)

// Func is told what a run of the generators is at: a phase such as
// "generating crd", and how much of it is done, of how much in total; 0 where
// that is not known. It is called often, and from several goroutines.
type Func func(phase string, done, total int)

type progressKey struct{}

// With returns a context with which [Plan] tells p what it does.
func With(ctx context.Context, p Func) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// From returns what to tell about a run, which may be a function that does
// nothing.
func From(ctx context.Context) Func {
	if p, ok := ctx.Value(progressKey{}).(Func); ok {
		return p
	}
	return func(string, int, int) {}
}
