package cli

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/plugin"
)

// TestPluginTable checks that docs/plugins.md has a row for each plugin of operon, with its key, its other names and
// its flags of init and edit.
func TestPluginTable(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(doc)) {
		if cells := strings.Split(line, " | "); len(cells) == 4 && strings.HasPrefix(line, "| `") && strings.Contains(cells[0], "/v") {
			rows[strings.Trim(cells[0], "| `")] = strings.TrimSpace(line)
		}
	}
	for _, l := range catalogue() {
		names := slices.DeleteFunc(l.Names(), func(name string) bool { return name == l.Key })
		var flags []string
		for _, p := range l.Plugins {
			for _, o := range p.Options() {
				if slices.Contains(o.Events, plugin.Init) || slices.Contains(o.Events, plugin.Edit) {
					flags = append(flags, "--"+o.Name)
				}
			}
		}
		slices.Sort(flags)
		cells := []string{quoted(names), quoted(slices.Compact(flags))}
		row, found := rows[l.Key]
		if got := strings.Split(strings.Trim(row, "| "), " | "); !found || got[1] != cells[0] || strings.TrimSuffix(got[len(got)-1], " |") != cells[1] {
			t.Errorf("docs/plugins.md needs the row: | `%s` | %s | %s | %s |", l.Key, cells[0], l.Doc(), cells[1])
		}
		delete(rows, l.Key)
	}
	for key := range rows {
		t.Errorf("docs/plugins.md has a row for %s, which operon does not have", key)
	}
}

// quoted returns names as code, or a dash.
func quoted(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return "`" + strings.Join(names, "`, `") + "`"
}
