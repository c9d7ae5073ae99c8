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

// Validate validates hooks as the engine does at start-up, and warns about mistakes that the
// engine accepts. Findings are ordered by position. An error means that the validation itself
// failed.
func Validate(ctx context.Context, s *Sandbox, hooks []Hook) ([]finding.Finding, error) {
	configs, findings, err := Load(ctx, s, hooks)
	if err != nil {
		return nil, err
	}
	findings = append(findings, duplicateResponders(hooks, configs)...)
	inScripts, err := s.checkScripts(hooks)
	if err != nil {
		return nil, err
	}
	for _, f := range inScripts {
		fails := func(other finding.Finding) bool { return other.File == f.File && other.IsError() }
		if f.Rule != ruleShellSyntax.Name || !slices.ContainsFunc(findings, fails) { // the error has the same cause
			findings = append(findings, f)
		}
	}
	return finding.Sort(findings), nil
}

// checkScripts validates the syntax and the RBAC markers of hooks and of the other scripts in
// their folder.
func (s *Sandbox) checkScripts(hooks []Hook) ([]finding.Finding, error) {
	sources, err := Library(s.dir, hooks, "")
	if err != nil {
		return nil, err
	}
	for _, h := range hooks {
		source, err := h.Source("")
		if err != nil {
			continue // already reported
		}
		sources = append(sources, source)
	}
	var findings []finding.Finding
	for _, source := range sources {
		findings = append(findings, checkShellSyntax(source)...)
		_, invalid := rbac.Markers(source, s.Kinds)
		for _, f := range invalid {
			found := RuleMarker.At(f.File, f.Line, f.Column, "%s", f.Message)
			found.Fix = f.Hint
			findings = append(findings, found)
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
	// A starting interpreter mostly waits for I/O, so run more hooks than there are CPUs.
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

// Config runs a hook with --config, and validates the hook and the printed configuration. The
// configuration is nil if a finding is an error.
func (s *Sandbox) Config(ctx context.Context, h Hook) (*config.Config, []finding.Finding, error) {
	if f, ok := h.checkStart(); !ok {
		return nil, []finding.Finding{f}, nil
	}
	output, f, ok, err := s.runConfig(ctx, h)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, []finding.Finding{f}, nil
	}
	script, err := h.read()
	if err != nil {
		return nil, nil, err
	}
	text := output.stdout
	c, problems := h.Owner.Parse(text)
	if c != nil && s.Kinds != nil {
		problems = append(problems, config.CheckKinds(text, c, s.Kinds)...)
	}
	findings := h.locate(problems, text, lineOfConfig(script, text))
	if i := finding.FirstError(findings); i >= 0 {
		if onStderr := s.lastLines(output.stderr); onStderr != "" {
			findings[i].Message += "; on stderr: " + onStderr
		}
	}
	if c != nil {
		findings = append(findings, s.checkHandlers(h, script, c)...)
	}
	return c, findings, nil
}
