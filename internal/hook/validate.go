package hook

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/hook/config"
)

// Validate judges the hooks that Discover found, as the engine would when it
// starts, and more. Findings are in the order of their places. The error is about
// the validation itself.
func Validate(ctx context.Context, s *Sandbox, hooks []Hook) ([]Finding, error) {
	results := make([][]Finding, len(hooks))
	errs := make([]error, len(hooks))
	// A hook waits for its interpreter more than it computes.
	tokens := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i, h := range hooks {
		group.Go(func() {
			tokens <- struct{}{}
			defer func() { <-tokens }()
			_, results[i], errs[i] = s.Config(ctx, h)
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return Sorted(slices.Concat(results...)), nil
}

// Sorted puts findings in the order of their places.
func Sorted(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return findings
}

// Config asks a hook for its configuration and judges both. The configuration is
// nil when the engine refuses it, or the hook.
func (s *Sandbox) Config(ctx context.Context, h Hook) (*config.Config, []Finding, error) {
	if f := h.startable(); f != nil {
		return nil, []Finding{*f}, nil
	}
	text, failed, err := s.ask(ctx, h)
	if err != nil {
		return nil, nil, err
	}
	if failed != nil {
		return nil, []Finding{*failed}, nil
	}
	script, err := os.ReadFile(h.Path)
	if err != nil {
		return nil, nil, err
	}
	c, judged := config.Parse(text)
	findings := h.found(judged, embedded(script, text))
	if c != nil {
		findings = append(findings, h.handlers(script, c)...)
	}
	return c, findings, nil
}
