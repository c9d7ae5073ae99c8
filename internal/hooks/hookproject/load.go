package hookproject

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/engine"
)

// Loader runs hooks with --config to get their configuration.
type Loader struct {
	Path    string        // the PATH of hooks
	Timeout time.Duration // for one hook
}

// Load returns a hook with its configuration. An invalid configuration is an error.
func (l Loader) Load(ctx context.Context, h *Hooks, hook hooks.Hook) (engine.Hook, error) {
	sandbox, err := hooks.NewSandbox(h.Root, l.Path, l.Timeout)
	if err != nil {
		return engine.Hook{}, err
	}
	defer sandbox.Close()
	config, findings, err := sandbox.Config(ctx, hook)
	if err == nil {
		err = FirstError(h.InProject(findings))
	}
	return engine.Hook{Hook: hook, Config: config}, err
}

// InProject returns findings about hooks with the folder of the hooks in their paths.
func (h *Hooks) InProject(findings []finding.Finding) []finding.Finding {
	if h.Addon != nil {
		return findings
	}
	return finding.InFolder(filepath.ToSlash(h.Label), findings)
}

// LoadAll returns all hooks with valid configurations.
func (l Loader) LoadAll(ctx context.Context, h *Hooks) ([]engine.Hook, error) {
	sandbox, err := hooks.NewSandbox(h.Root, l.Path, l.Timeout)
	if err != nil {
		return nil, err
	}
	defer sandbox.Close()
	configs, _, err := hooks.Load(ctx, sandbox, h.All)
	var valid []engine.Hook
	for i, config := range configs {
		if config != nil {
			valid = append(valid, engine.Hook{Hook: h.All[i], Config: config})
		}
	}
	return valid, err
}

// FirstError returns the first finding that is an error as an error of a command, or nil.
func FirstError(findings []finding.Finding) error {
	i := finding.FirstError(findings)
	if i < 0 {
		return nil
	}
	f, hint := findings[i], "operon hooks validate lists all problems"
	if f.Rule == hooks.RuleNoInterpreter.Name {
		program, _, _ := strings.Cut(f.Message, " ")
		same := slices.DeleteFunc(slices.Clone(findings), func(other finding.Finding) bool { return other.Message != f.Message })
		hint = fmt.Sprintf("hooks that need %s: %d", program, len(same))
	}
	return fault.Failed(hint, "%s: %s [%s]", f.Position(), f.Message, f.Rule)
}
