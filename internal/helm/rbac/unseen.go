package rbac

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// unseen returns findings about the objects that a template could render, and that no set of values
// shows.
func (d *deriver) unseen(t template) []finding.Finding {
	var all []finding.Finding
	seen, anywhere := d.kindsOf(t.file), d.kindsOf("")
	for _, k := range t.kinds {
		shown := seen
		if k.definition != "" {
			if !d.included[k.definition] {
				continue
			}
			shown = anywhere
		}
		if message := k.unseen(shown); message != "" {
			all = append(all, ruleUnseen.At(t.file, k.line, 0, "%s", message))
		}
	}
	if len(all) == 0 && !t.isPartial() && t.mayRender() && len(seen) == 0 {
		all = append(all, ruleUnseen.At(t.file, 1, 0, "no set of values renders an object from this template"))
	}
	return all
}

// kindsOf returns the kinds that a template renders with any set of values, sorted, or the kinds of all
// templates if file is "".
func (d *deriver) kindsOf(file string) []string {
	var all []string
	for _, f := range d.found {
		if file == "" || f.file == file {
			all = append(all, f.object.GetKind())
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	templateAction = lazyregexp.New(`\{\{.*?\}\}`)
	quotedKind     = lazyregexp.New(`"([A-Z][A-Za-z0-9]+)"`)
)

// unseen returns why the rendered kinds do not show all that a line can be, or "".
func (k kindLine) unseen(seen []string) string {
	if !strings.Contains(k.value, "{{") {
		if k.value == "" || k.value == "List" || slices.Contains(seen, k.value) {
			return ""
		}
		return fmt.Sprintf("no set of values renders the %s here", k.value)
	}
	var possible []string
	for _, m := range quotedKind().FindAllStringSubmatch(k.value, -1) {
		possible = append(possible, m[1])
	}
	possible = append(possible, strings.Fields(templateAction().ReplaceAllString(k.value, " "))...)
	for _, name := range possible {
		if !slices.ContainsFunc(seen, func(kind string) bool { return strings.Contains(kind, name) }) {
			return fmt.Sprintf("no set of values renders the %s here", name)
		}
	}
	if len(possible) > 0 {
		return ""
	}
	if len(seen) == 0 {
		return "the template computes the kind, and no set of values renders an object here"
	}
	return "the template computes the kind; the sets of values show " + strings.Join(seen, ", ")
}

// mayRender reports whether a template may print objects that its text does not have.
func (t template) mayRender() bool {
	return len(t.kinds) == 0 && slices.ContainsFunc([]string{"toYaml", "tpl", "include", "template "}, func(call string) bool {
		return strings.Contains(t.text, call)
	})
}
