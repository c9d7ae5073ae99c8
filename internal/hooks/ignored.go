package hooks

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/input"
)

// IgnoredHooks returns the findings of Discover about hooks that the engine ignores because
// they are not executable. It leaves out other scripts, such as those that hooks source.
func IgnoredHooks(dir string, findings []finding.Finding) []finding.Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f finding.Finding) bool {
		if f.Rule != RuleNotExecutable.Name {
			return true
		}
		return !configures(filepath.Join(dir, filepath.FromSlash(f.File)))
	})
}

// configures reports whether a file is a script that prints its configuration as a hook does.
func configures(name string) bool {
	text, err := input.ReadFile(name, input.Text)
	return err == nil && handlesConfig(text)
}

// handlesConfig reports whether a script prints its configuration as a hook does, by itself
// or with a library.
func handlesConfig(script []byte) bool {
	return bytes.Contains(script, []byte("--config")) || bytes.Contains(script, []byte("hook::run")) || pythonHook().Match(script)
}

// NotExecutableError returns an error for the first of the hooks that the engine ignores, or
// nil. Commands that write roles fail with it: otherwise the roles would lose the rules of
// that hook. shown is the path of the folder in messages.
func NotExecutableError(shown string, ignored []finding.Finding) error {
	if len(ignored) == 0 {
		return nil
	}
	name := path.Join(filepath.ToSlash(shown), ignored[0].File)
	return fault.Failed("chmod +x "+name, "%s is a hook, but it is not executable: the roles would not have its rules", name)
}
