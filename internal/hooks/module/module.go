// Package module finds the modules of an addon-operator and validates them like
// addon-operator: names, values, schemas, charts and enabled scripts. Package hooks validates
// the hooks of modules.
package module

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ettle/strcase"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// Module is a folder with a chart, values, schemas and hooks.
type Module struct {
	Name   string // the folder name without the order
	Order  int    // lower values come first
	Folder string // the name of the folder
	Dir    string // absolute
}

// unnumbered is the default order of modules without a number. UNNUMBERED_MODULES_ORDER
// changes it in the operator.
const unnumbered = 1

// at returns the path of the module in findings, relative to the parent of the modules
// folder.
func (m Module) at() string { return filepath.Base(filepath.Dir(m.Dir)) + "/" + m.Folder }

// Key returns the key of the module's values: its name in camel case.
func (m Module) Key() string { return Key(m.Name) }

// Key returns the name of a module in camel case.
func Key(name string) string { return strcase.ToCamel(name) }

// enabledKey returns the key that enables or disables the module.
func (m Module) enabledKey() string { return m.Key() + "Enabled" }

// CheckName returns the problem of a module name, or "". Converting the name to camel
// case and back must not change it.
func CheckName(name string) string {
	if back := strcase.ToKebab(strcase.ToCamel(name)); back != name {
		return fmt.Sprintf("must be in kebab case, and must not change when converted to camel case and back: did you mean %s?", back)
	}
	return ""
}

// CheckKey returns why a module has no section of its own in the ConfigMap, or "".
// Sections with these suffixes are about other modules.
func CheckKey(name string) string {
	for _, suffix := range []string{"-enabled", "-maintenance"} {
		if other, ends := strings.CutSuffix(name, suffix); ends {
			return fmt.Sprintf("ends with %s: %s in the ConfigMap is a switch of the module %s, so users cannot set any of its values", suffix, Key(name), other)
		}
	}
	return ""
}

var folderName = lazyregexp.New(`(?s)^(?:([0-9]+)-)?(.+)$`)

// OfFolder returns the name and the order of the module in a folder. The order is that of
// unnumbered modules if the folder has none.
func OfFolder(folder string) (name string, order int) {
	m := folderName().FindStringSubmatch(folder)
	order = unnumbered
	if n, err := strconv.ParseUint(m[1], 10, 31); err == nil {
		order = int(n)
	}
	return m[2], order
}

// Find returns the modules in a folder, ordered. Findings report folders with invalid
// names, by their path from that folder.
func Find(dir string) ([]Module, []finding.Finding, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fault.In("look for modules", err)
	}
	var modules []Module
	var findings []finding.Finding
	for _, entry := range entries {
		target := filepath.Join(dir, entry.Name())
		switch info, err := os.Stat(target); { // follow links to folders
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, nil, fault.In("look for modules", err)
		case !info.IsDir():
			continue
		}
		name, order := OfFolder(entry.Name())
		if wrong := CheckName(name); wrong != "" {
			findings = append(findings, finding.Finding{File: entry.Name(), Rule: ruleName, Severity: finding.Error,
				Message: fmt.Sprintf("the name of the module is %q, and %s", name, wrong)})
			continue
		}
		if wrong := CheckKey(name); wrong != "" {
			findings = append(findings, finding.Finding{File: entry.Name(), Rule: ruleSwitch, Message: "the name of the module " + wrong})
		}
		modules = append(modules, Module{Name: name, Order: order, Folder: entry.Name(), Dir: target})
	}
	slices.SortStableFunc(modules, func(a, b Module) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name)) })
	return modules, append(findings, duplicateNames(modules)...), nil
}

// duplicateNames reports modules with the same name.
func duplicateNames(modules []Module) []finding.Finding {
	first := map[string]string{}
	var findings []finding.Finding
	for _, m := range modules {
		if other, there := first[m.Name]; there {
			findings = append(findings, finding.Finding{File: m.Folder, Rule: ruleTwice,
				Message: fmt.Sprintf("is another module named %s, beside %s: one of them replaces the other", m.Name, other)})
			continue
		}
		first[m.Name] = m.Folder
	}
	return findings
}

// Hooks returns the module's hooks. Names are paths from root, the working folder of the
// operator in its image. Findings report ignored files and invalid names.
func (m Module) Hooks(root string) ([]hooks.Hook, []finding.Finding, error) {
	return hooksBelow(root, filepath.Join(m.Dir, "hooks"), config.Module)
}

// GlobalHooks returns the hooks in a folder of global hooks, or in its folder hooks if it
// has one.
func GlobalHooks(root, dir string) ([]hooks.Hook, []finding.Finding, error) {
	if info, err := os.Stat(filepath.Join(dir, "hooks")); err == nil && info.IsDir() {
		dir = filepath.Join(dir, "hooks")
	}
	return hooksBelow(root, dir, config.Global)
}

func hooksBelow(root, dir string, owner config.Owner) ([]hooks.Hook, []finding.Finding, error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	found, passed, err := hooks.Discover(dir)
	if err != nil {
		return nil, nil, err
	}
	below, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, nil, err
	}
	below = filepath.ToSlash(below)
	inVenv := func(name string) bool {
		return owner == config.Module && slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(name)), "/"), "venv")
	}
	var findings []finding.Finding
	for _, f := range passed {
		if !inVenv(f.File) {
			f.File = below + "/" + f.File
			findings = append(findings, f)
		}
	}
	var kept []hooks.Hook
	for _, h := range found {
		if inVenv(h.Name) {
			continue
		}
		h.Name, h.Owner = below+"/"+h.Name, owner
		kept = append(kept, h)
		findings = append(findings, stockLibrary(h)...)
		if filepath.Ext(h.Name) == "" && isText(h.Path) {
			findings = append(findings, finding.Finding{File: h.Name, Rule: ruleNoExtension,
				Message: "has no extension, so addon-operator first runs it with hook list and hook config to see whether it is a compiled hook: name it .sh or .py"})
		}
	}
	return kept, findings, nil
}

var stock = lazyregexp.New(`(?m)^\s*(?:source|\.)\s+["']?/shell_lib\.sh`)

// stockLibrary reports hooks that source the shell library of the image. That library is
// incomplete in addon-operator's image: the Dockerfile copies its parts to /framework,
// but the library reads them from /frameworks.
func stockLibrary(h hooks.Hook) []finding.Finding {
	script, err := os.ReadFile(h.Path)
	if err != nil {
		return nil // starting the hook reports the error
	}
	at := stock().FindIndex(script)
	if at == nil {
		return nil
	}
	return []finding.Finding{{File: h.Name, Line: strings.Count(string(script[:at[1]]), "\n") + 1, Column: 1, Rule: ruleStock,
		Message: "sources /shell_lib.sh, which has no functions in the image of addon-operator: add a library, such as global-hooks/lib/shell_lib.sh"}}
}

// isText reports whether a file is text rather than a binary.
func isText(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 2)
	_, err = f.Read(head)
	return err == nil && string(head) == "#!"
}
