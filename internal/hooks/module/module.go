// Package module finds the modules of a project for addon-operator, and validates their names,
// values, schemas, CRDs, charts and enabled scripts as addon-operator does. Package hooks
// validates the hooks of modules.
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
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/lazyregexp"
	kyaml "sigs.k8s.io/yaml"
)

// Module is a folder with a chart, values, schemas and hooks.
type Module struct {
	Name   string // the folder name without the order
	Order  int    // addon-operator runs modules with lower values first
	Folder string // the name of the folder
	Dir    string // the absolute path of the folder
}

// defaultOrder is the order of modules without a number. The environment variable
// UNNUMBERED_MODULES_ORDER changes it in the operator.
const defaultOrder = 1

// path returns the path of the module in findings, relative to the parent of the modules
// folder.
func (m Module) path() string { return filepath.Base(filepath.Dir(m.Dir)) + "/" + m.Folder }

// Key returns the key of the module's values: its name in camel case.
func (m Module) Key() string { return Key(m.Name) }

// Key returns the name of a module in camel case.
func Key(name string) string { return strcase.ToCamel(name) }

// enabledKey returns the key that enables or disables the module.
func (m Module) enabledKey() string { return m.Key() + "Enabled" }

// CheckName returns the reason why a module name is invalid, or "". A valid name does not
// change when it is converted to camel case and back.
func CheckName(name string) string {
	if converted := strcase.ToKebab(strcase.ToCamel(name)); converted != name {
		return fmt.Sprintf("must be in kebab case, and must not change when converted to camel case and back: did you mean %s?", converted)
	}
	return ""
}

// CheckKey returns the reason why a module cannot have its own section in the ConfigMap, or
// "". YAML reads some keys as other values than strings, and keys with these suffixes are
// settings of other modules.
func CheckKey(name string) string {
	if value, err := kyaml.YAMLToJSON([]byte(Key(name))); err != nil || string(value) != strconv.Quote(Key(name)) {
		return fmt.Sprintf("is not a string in YAML: the values of the module would have the key %s", value)
	}
	for _, suffix := range []string{"-enabled", "-maintenance"} {
		if other, found := strings.CutSuffix(name, suffix); found {
			return fmt.Sprintf("ends with %s: in the ConfigMap, %s is a flag of the module %s, so users cannot set values of this module", suffix, Key(name), other)
		}
	}
	return ""
}

var folderName = lazyregexp.New(`(?s)^(?:([0-9]+)-)?(.+)$`)

// ParseFolder returns the name and the order of the module in a folder, such as web and 10
// for 010-web.
func ParseFolder(folder string) (name string, order int) {
	m := folderName().FindStringSubmatch(folder)
	order = defaultOrder
	if n, err := strconv.ParseUint(m[1], 10, 31); err == nil {
		order = int(n)
	}
	return m[2], order
}

// Find returns the modules in a folder, in the order in which addon-operator runs them.
// Findings report invalid and duplicate names. Their paths are relative to the folder.
func Find(dir string) ([]Module, []finding.Finding, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fault.In("find modules", err)
	}
	var modules []Module
	var findings []finding.Finding
	for _, entry := range entries {
		target := filepath.Join(dir, entry.Name())
		switch info, err := os.Stat(target); { // follow links to folders
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, nil, fault.In("find modules", err)
		case !info.IsDir():
			continue
		}
		name, order := ParseFolder(entry.Name())
		if problem := CheckName(name); problem != "" {
			findings = append(findings, ruleName.At(entry.Name(), 0, 0, "the module name %q %s", name, problem))
			continue
		}
		if problem := CheckKey(name); problem != "" {
			findings = append(findings, ruleFlagName.At(entry.Name(), 0, 0, "the module name %s", problem))
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
		if other, exists := first[m.Name]; exists {
			findings = append(findings, ruleDuplicate.At(m.Folder, 0, 0, "has the same module name as %s: one of the modules replaces the other", other))
			continue
		}
		first[m.Name] = m.Folder
	}
	return findings
}

// Hooks returns the module's hooks. Their names are paths relative to root, the folder that
// corresponds to the operator's working folder. Findings report ignored files and names
// without an extension.
func (m Module) Hooks(root string) ([]hooks.Hook, []finding.Finding, error) {
	return hooksBelow(root, filepath.Join(m.Dir, "hooks"), config.Module)
}

// GlobalHooks returns the hooks in a folder of global hooks, or in its subfolder hooks if that
// exists.
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
	found, ignored, err := hooks.Discover(dir)
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
	for _, f := range ignored {
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
		findings = append(findings, checkLibrary(h)...)
		if filepath.Ext(h.Name) == "" && isScript(h.Path) {
			findings = append(findings, ruleNoExtension.At(h.Name, 0, 0,
				"has no extension, so addon-operator first runs it with hook list and hook config to check whether it is a compiled hook: add .sh or .py"))
		}
	}
	return kept, findings, nil
}

var stockLibrary = lazyregexp.New(`(?m)^\s*(?:source|\.)\s+["']?/shell_lib\.sh`)

// checkLibrary reports hooks that source the shell library of addon-operator's image, which is
// incomplete: the Dockerfile copies its parts to /framework, but the library reads them from
// /frameworks.
func checkLibrary(h hooks.Hook) []finding.Finding {
	script, err := input.ReadFile(h.Path, input.Text)
	if err != nil {
		return nil // the validation of the hook reports the error
	}
	match := stockLibrary().FindIndex(script)
	if match == nil {
		return nil
	}
	line := strings.Count(string(script[:match[1]]), "\n") + 1
	return []finding.Finding{ruleStockLibrary.At(h.Name, line, 1,
		"sources /shell_lib.sh, which defines no functions in the image of addon-operator: use a library of the project, such as global-hooks/lib/shell_lib.sh")}
}

// isScript reports whether a file starts with #!.
func isScript(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := input.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 2)
	_, err = f.Read(head)
	return err == nil && string(head) == "#!"
}
