package request

import (
	"fmt"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/project"
	"golang.org/x/mod/semver"
)

// configured returns the calls below ConfigKey in PROJECT's plugins, which has one of two keys:
//
//   - args: the arguments of one call, a list in controller-gen's syntax
//   - calls: a list of mappings with the key args, and optionally dir: the folder in which the
//     call runs, relative to the project
//
// [ToolsKey] and [FilesKey] are further keys.
func configured(plugins map[string]any) ([]*call, error) {
	raw, ok := plugins[ConfigKey]
	if !ok || raw == nil {
		return nil, nil
	}
	settings, ok := raw.(map[string]any)
	if !ok {
		return nil, fault.Usage("write args: [crd, ...] below it", "PROJECT: plugins[%q] is not a mapping", ConfigKey)
	}
	args, err := texts(settings["args"], "args")
	if err != nil {
		return nil, err
	}
	list, isList := settings["calls"].([]any)
	switch {
	case settings["calls"] != nil && !isList:
		return nil, fault.Usage("write one mapping with args per list item", "PROJECT: plugins[%q].calls is not a list", ConfigKey)
	case len(args) > 0 && len(list) > 0:
		return nil, fault.Usage("move the list args into calls", "PROJECT: plugins[%q] has args and calls", ConfigKey)
	case len(args) > 0:
		c, err := configuredCall(args, "")
		if err != nil {
			return nil, fault.In("default arguments", err)
		}
		return []*call{c}, nil
	}
	var all []*call
	for i, item := range list {
		name := fmt.Sprintf("calls[%d]", i)
		m, ok := item.(map[string]any)
		if !ok {
			return nil, fault.Usage("write args: [crd, ...] as list item", "PROJECT: plugins[%q].%s is not a mapping", ConfigKey, name)
		}
		args, err := texts(m["args"], name+".args")
		if err != nil {
			return nil, err
		}
		dir, _ := m["dir"].(string)
		c, err := configuredCall(args, dir)
		if err != nil {
			return nil, fault.In("PROJECT: plugins: "+ConfigKey+": "+name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// Settings returns the key of configured that records calls, with its value.
func Settings(found []calls.Call) (map[string]any, error) {
	var all []*call
	for _, c := range found {
		parsed, _, why := callOf(c)
		if why != "" {
			return nil, fault.Usage("write its arguments to PROJECT, as docs/generate.md describes", "operon does not understand the call controller-gen %s, as %s", strings.Join(c.Args, " "), why)
		}
		if len(parsed.generators) > 0 {
			all = append(all, parsed)
		}
	}
	var list []any
	for _, c := range merge(all) {
		list = append(list, map[string]any{"args": c.args()})
	}
	if len(list) == 1 {
		return list[0].(map[string]any), nil
	}
	return map[string]any{"calls": list}, nil
}

// configuredCall parses the arguments of a call that runs in a folder.
func configuredCall(args []string, dir string) (*call, error) {
	a, err := parse(args)
	if err != nil {
		return nil, err
	}
	if len(a.paths) == 0 {
		a.paths = []string{"./..."}
	}
	if err := a.resolve(); err != nil {
		return nil, err
	}
	if dir != "" {
		if outside, why := a.rebase(path.Join(calls.Root, dir)); outside || why != "" {
			return nil, fault.Usage("write paths that start in "+dir+" and stay in the project", "the call in %s has a path outside the project", dir)
		}
	}
	return newCall(a, fromProject), nil
}

// ToolsKey is the key below ConfigKey with the version of controller-tools that generates: vX.Y.Z,
// or OwnTools for the one in this program.
const (
	ToolsKey = "controllerTools"
	OwnTools = "operon"
)

// ValidTools returns an error unless a text is a value of ToolsKey.
func ValidTools(value string) error {
	if value == OwnTools || semver.IsValid(value) && semver.Canonical(value) == value {
		return nil
	}
	return fault.Usage("write "+OwnTools+", or a version such as "+controllertools.Version(), "%q is not a version of controller-tools", value)
}

// tools returns the value of ToolsKey in PROJECT, or "".
func tools(c *project.Config) (string, error) {
	if c == nil {
		return "", nil
	}
	settings, _ := c.Plugins[ConfigKey].(map[string]any) // configured reports another type
	value, chosen := settings[ToolsKey]
	if !chosen {
		return "", nil
	}
	text, _ := value.(string)
	return text, fault.In("PROJECT: plugins: "+ConfigKey+": "+ToolsKey, ValidTools(text))
}

// texts returns a list of texts, which may be missing.
func texts(list any, name string) (all []string, err error) {
	switch list := list.(type) {
	case nil:
		return nil, nil
	case []string:
		return list, nil
	case []any:
		for i, v := range list {
			s, ok := v.(string)
			if !ok {
				return nil, fault.Usage("quote it", "PROJECT: plugins[%q].%s[%d] is not a string: %v", ConfigKey, name, i, v)
			}
			all = append(all, s)
		}
		return all, nil
	}
	return nil, fault.Usage("write one argument per list item", "PROJECT: plugins[%q].%s is not a list", ConfigKey, name)
}
