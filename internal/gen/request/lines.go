package request

import (
	"strings"

	"sigs.k8s.io/yaml"
)

// Lines returns a hint with the lines for PROJECT that record the calls. what says what to do
// with the place that follows. An unclear call has dots for what is unknown.
func (j *Jobs) Lines(what string) string {
	var all [][]string
	for _, job := range j.List {
		all = append(all, job.Args)
	}
	for _, c := range j.Unclear {
		all = append(all, relevant(c.Args))
	}
	if len(j.Unclear) > 0 && len(j.List) == 1 && j.List[0].From[0] == FromDefaults {
		all = all[1:]
	}
	settings := map[string]any{}
	if len(all) == 1 {
		settings["args"] = all[0]
	} else {
		var list []map[string]any
		for _, args := range all {
			list = append(list, map[string]any{"args": args})
		}
		settings["calls"] = list
	}
	where, indent, tree := "PROJECT", "", map[string]any{"plugins": map[string]any{ConfigKey: settings}}
	if j.InFile {
		where, indent, tree = "plugins in PROJECT", "  ", map[string]any{ConfigKey: settings}
	}
	text, err := yaml.Marshal(tree)
	if err != nil {
		return err.Error() // texts can always be encoded
	}
	return what + " " + where + ":\n" + indent + strings.ReplaceAll(strings.TrimRight(string(text), "\n"), "\n", "\n"+indent)
}
