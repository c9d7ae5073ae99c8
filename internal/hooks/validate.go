package hooks

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/rbac"
)

// Validate validates discovered hooks as the engine does at its start, and checks for
// further problems. Findings are ordered by position. The error means that the validation
// could not run.
func Validate(ctx context.Context, s *Sandbox, hooks []Hook) ([]finding.Finding, error) {
	configs, findings, err := Load(ctx, s, hooks)
	if err != nil {
		return nil, err
	}
	findings = append(findings, duplicateResponders(hooks, configs)...)
	more, err := s.markers(hooks)
	return finding.Sort(append(findings, more...)), err
}

// markers validates the RBAC markers in hooks and in the scripts around them.
func (s *Sandbox) markers(hooks []Hook) ([]finding.Finding, error) {
	sources, err := scripts(s.dir, hooks, "")
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		text, err := h.text()
		if err != nil {
			continue // already reported
		}
		sources = append(sources, rbac.Source{Path: h.Name, Text: text})
	}
	var findings []finding.Finding
	for _, source := range sources {
		for _, f := range rbac.CheckMarkers(source) {
			findings = append(findings, finding.Finding{File: f.File, Line: f.Line, Column: f.Column, Rule: f.Rule, Message: f.Text()})
		}
	}
	return findings, nil
}

// Load validates hooks like Validate and returns their configurations. The configuration
// of an invalid hook is nil.
func Load(ctx context.Context, s *Sandbox, hooks []Hook) ([]*config.Config, []finding.Finding, error) {
	configs := make([]*config.Config, len(hooks))
	results := make([][]finding.Finding, len(hooks))
	errs := make([]error, len(hooks))
	// Starting an interpreter is mostly waiting, so run more hooks than there are CPUs.
	tokens := make(chan struct{}, 2*runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for i, h := range hooks {
		group.Go(func() {
			tokens <- struct{}{}
			defer func() { <-tokens }()
			configs[i], results[i], errs[i] = s.Config(ctx, h)
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, nil, err
		}
	}
	return configs, finding.Sort(slices.Concat(results...)), nil
}

// Config runs a hook for its configuration and validates both. The configuration is nil
// if the engine rejects it or the hook.
func (s *Sandbox) Config(ctx context.Context, h Hook) (*config.Config, []finding.Finding, error) {
	if f := h.startable(); f != nil {
		return nil, []finding.Finding{*f}, nil
	}
	output, failed, err := s.runConfig(ctx, h)
	if err != nil {
		return nil, nil, err
	}
	if failed != nil {
		return nil, []finding.Finding{*failed}, nil
	}
	script, err := h.text()
	if err != nil {
		return nil, nil, err
	}
	text := output.stdout
	c, judged := h.Owner.Parse(text)
	if c != nil && s.Kinds != nil {
		judged = append(judged, config.CheckKinds(text, c, s.Kinds)...)
	}
	findings := h.locate(judged, text, embedded(script, text))
	if i := slices.IndexFunc(findings, finding.Finding.IsError); i >= 0 {
		if also := s.lastLines(output.stderr); also != "" {
			findings[i].Message += "; on stderr: " + also
		}
	}
	if c != nil {
		findings = append(findings, s.handlers(h, script, c)...)
	}
	return c, findings, nil
}
