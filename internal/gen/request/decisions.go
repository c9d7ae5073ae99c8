package request

import (
	"fmt"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// FilesKey is the key below ConfigKey with decisions about generated files that other programs or people change: a
// mapping from the path of a file or folder to [Replace], to [Keep], or to a mapping with the key after, a list of
// shell commands.
const FilesKey = "files"

// The decisions of one word.
const (
	Replace = "replace" // operon writes the file, whatever it has
	Keep    = "keep"    // operon never writes the file
)

// Decision says what happens to a generated file that has content of other programs. The zero value means that
// PROJECT does not say.
type Decision struct {
	Word  string   // Replace, Keep or ""
	After []string // shell commands that change the file after the generators
}

// Decisions has the decisions of a project by path of a file or folder, slash-separated and relative to the root.
type Decisions map[string]Decision

// For returns the decision about a file: its own, or the one for the nearest folder.
func (d Decisions) For(file string) Decision {
	for at := file; ; at = path.Dir(at) {
		if found, ok := d[at]; ok {
			return found
		}
		if at == "." || at == "/" {
			return Decision{}
		}
	}
}

// Value returns the decisions as the value of FilesKey.
func (d Decisions) Value() map[string]any {
	value := map[string]any{}
	for name, decision := range d {
		if decision.Word != "" {
			value[name] = decision.Word
			continue
		}
		after := make([]any, len(decision.After))
		for i, command := range decision.After {
			after[i] = command
		}
		value[name] = map[string]any{"after": after}
	}
	return value
}

// DecisionsOf returns the decisions in PROJECT, which may be nil.
func DecisionsOf(c *project.Config) (Decisions, error) {
	if c == nil {
		return Decisions{}, nil
	}
	settings, _ := c.Plugins[ConfigKey].(map[string]any) // configured reports another type
	return ParseDecisions(settings[FilesKey])
}

// ParseDecisions decodes the value of FilesKey.
func ParseDecisions(value any) (Decisions, error) {
	all := Decisions{}
	if value == nil {
		return all, nil
	}
	files, ok := value.(map[string]any)
	if !ok {
		return nil, fault.Usage("write path: replace, path: keep, or path: {after: [command]}", "PROJECT: plugins[%q].%s is not a mapping", ConfigKey, FilesKey)
	}
	for name, value := range files {
		where := fmt.Sprintf("%s[%s]", FilesKey, name)
		if clean := path.Clean(name); clean != name || path.IsAbs(name) || name == ".." || strings.HasPrefix(name, "../") {
			return nil, fault.Usage("write the path of a file or folder from the root of the project", "PROJECT: plugins[%q].%s is not a path in the project", ConfigKey, where)
		}
		if word, _ := value.(string); word == Replace || word == Keep {
			all[name] = Decision{Word: word}
			continue
		}
		m, _ := value.(map[string]any)
		after, err := texts(m["after"], where+".after")
		if err != nil {
			return nil, err
		}
		if len(after) == 0 || len(m) != 1 {
			return nil, fault.Usage("write replace, keep, or {after: [command]}", "PROJECT: plugins[%q].%s is not a decision", ConfigKey, where)
		}
		all[name] = Decision{After: after}
	}
	return all, nil
}
