package hooktest

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/hooks/engine"
)

// testsEnabledScript reports whether the expectation is about the module's enabled
// script.
func (x *Expect) testsEnabledScript() bool {
	return x != nil && (x.Enabled != nil || x.Reason != nil || x.ExitCode != nil || x.Runs != nil && *x.Runs > 0 ||
		x.Error != "" || len(x.Output) > 0 || x.has("enabled", "reason", "exitCode", "error", "output"))
}

// runEnabledScript runs the enabled script of the module.
func (s *session) runEnabledScript(ctx context.Context) {
	script := filepath.Join(s.addon.module.Dir, "enabled")
	info, err := os.Stat(script)
	switch {
	case err != nil:
		s.note(errors.New("the module has no such script, so only its enabled flag decides"))
		return
	case info.Mode()&0o111 == 0:
		s.note(errors.New("it is not executable, so it does not run: chmod +x"))
		return
	}
	values, config, err := s.addon.store.ScriptFiles()
	if err != nil {
		s.note(err)
		return
	}
	d, err := s.executor("").Runner.RunEnabled(ctx, script, engine.ValuesFiles{Values: values, Config: config})
	s.record(func(t *activity) {
		t.runs++
		t.exitCode = d.ExitCode
		t.output.Write(d.Stdout)
		t.output.Write(d.Stderr)
		if err == nil {
			t.decision = &d
		}
	})
	if err != nil {
		s.note(err)
	}
}

// compareDecision compares the expectation with the result of the enabled script.
func (s *session) compareDecision(x *Expect, t *activity) {
	d := t.decision
	switch {
	case x.Enabled == nil && x.Reason == nil:
		return
	case s.test.File.Module == "":
		s.differs(x.Line, "enabled: hooks have no such result; test a module with the key module instead of hook")
		return
	case d == nil:
		s.differs(x.Line, "enabled: the script printed no result")
		return
	}
	if x.Enabled != nil && *x.Enabled != d.Enabled {
		s.differs(x.Line, "enabled: the result is %t, want %t%s", d.Enabled, *x.Enabled, because(d.Reason))
		s.addFix(x, set("enabled", d.Enabled))
	}
	if x.Reason != nil && *x.Reason != d.Reason {
		s.differs(x.Line, "reason: got %q, want %q", d.Reason, *x.Reason)
		s.addFix(x, set("reason", d.Reason))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
