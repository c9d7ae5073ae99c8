// Package fields turns short descriptions of fields, such as "deployments:int32,min=1", into the
// Go code of a kind's types and into the schema of its sample. docs/fields.md has the grammar.
package fields

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

// Option is the flag of create api whose values are descriptions of fields.
const Option = "field"

// Field is one field of the spec or the status of a kind.
type Field struct {
	Text     string // as the user wrote it
	Status   bool   // a field of the status
	path     []step // at least one
	typ      Type
	list     bool // a list of typ
	mapped   bool // a map from strings to typ
	optional bool
	key      bool // identifies an item of the list that contains it
	rules    []rule
	doc      string
}

// step is an element of the path of a field.
type step struct {
	name     string // in JSON
	optional bool   // the object can be missing
	list     bool   // a list of objects
	at       int    // the index of the name in Text
}

// Record validates the fields that the command adds to the event's kind, and records them in PROJECT with
// those that it has. A description that PROJECT has already is not added.
func Record(e plugin.Event) error {
	r := *e.Resource
	requested := e.Strings(Option)
	if err := checkOperand(e.Project, r, requested); err != nil || len(requested) == 0 {
		return err
	}
	if r.API == nil {
		return fault.Usage("remove --resource=false, or the fields", "--%s adds a field to types, but this command adds none", Option)
	}
	all := slices.Clone(e.Project.Fields(r))
	for _, text := range requested {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	for _, text := range requested { // their errors come before PROJECT's
		if _, err := Parse(text); err != nil {
			return err
		}
	}
	if _, err := ParseKind(r.Kind, all); err != nil {
		return err
	}
	e.Project.PutFields(r, all)
	return nil
}

// checkOperand returns an error for a field of r with the name of one that --image adds.
func checkOperand(c *project.Config, r project.Resource, requested []string) error {
	own := c.OperandFields(r)
	for _, text := range append(c.Fields(r), requested...) {
		f, err := Parse(text)
		if err != nil || f.Status || slices.Contains(own, text) {
			continue // the error follows
		}
		for _, d := range own {
			if name, _, _ := strings.Cut(d, ":"); name == f.path[0].name {
				return fault.Usage("use another name, or edit the code that --image adds", "the field %s of --%s %q is also one that --image adds", name, Option, text)
			}
		}
	}
	return nil
}

// Recorded returns the fields of r that PROJECT records.
func Recorded(c *project.Config, r project.Resource) (*Kind, error) {
	k, err := ParseKind(r.Kind, c.Fields(r))
	if err != nil {
		err = project.InPluginConfig(project.FieldsKey, err)
	}
	return k, err
}

// ParseKind returns the fields of a kind from their descriptions.
func ParseKind(kind string, descriptions []string) (*Kind, error) {
	all := make([]Field, len(descriptions))
	for i, text := range descriptions {
		var err error
		if all[i], err = Parse(text); err != nil {
			return nil, err
		}
	}
	return newKind(kind, all)
}

// errorAt returns an error about the character of a description that starts at the byte index at.
func errorAt(text string, at int, hint, format string, args ...any) error {
	n := len([]rune(text[:min(at, len(text))])) + 1
	args = append([]any{Option, text, n}, args...)
	return fault.Usage(hint, "--%s %q: character %d: "+format, args...)
}
