//go:build testall

package hooks

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	"go.yaml.in/yaml/v3"
)

// checkUpdate removes the expectations in the hook tests of a project, or makes them wrong,
// and updates them. Afterwards, the tests pass.
func checkUpdate(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "test/hooks/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	for what, change := range map[string]func(*testing.T, string) string{
		"expectations are blank": blanked,
		"values are wrong":       damaged,
	} {
		for _, file := range files {
			before := treetest.ReadFile(t, file)
			changed := change(t, before)
			treetest.WriteFile(t, file, changed)
			operontest.Run(t, dir, "hooks", "test", "--update", file) // it runs the tests again
			after := treetest.ReadFile(t, file)
			if changed == before || after == changed {
				t.Errorf("%s: nothing changes", what)
			}
			if diff := cmp.Diff(withoutExpectations(t, changed), withoutExpectations(t, after)); diff != "" {
				t.Errorf("%s: an update changes more than expectations (-before +after):\n%s", what, diff)
			}
			if diff := cmp.Diff(comments(changed), comments(after)); diff != "" {
				t.Errorf("%s: an update changes comments (-before +after):\n%s", what, diff)
			}
			treetest.WriteFile(t, file, before)
		}
	}
}

// expectations replaces the expectations of each test and of each event by the result of a
// function.
func expectations(t *testing.T, text string, replace func(any) any) any {
	t.Helper()
	var file map[string]any
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	replaceIn := func(v any) {
		m := v.(map[string]any)
		if x, expects := m["expect"]; expects {
			m["expect"] = replace(x)
		}
	}
	for _, test := range file["tests"].([]any) {
		replaceIn(test)
		events, _ := test.(map[string]any)["events"].([]any)
		for _, event := range events {
			replaceIn(event)
		}
	}
	return file
}

func withoutExpectations(t *testing.T, text string) any {
	t.Helper()
	return expectations(t, text, func(any) any { return nil })
}

// blanked removes the values of all expectations, and the keys of every second one. It
// replaces aliases by their content, because their anchors may be removed.
func blanked(t *testing.T, text string) string {
	t.Helper()
	n := 0
	file := expectations(t, text, func(x any) any {
		if n++; n%2 == 0 {
			return nil
		}
		blank := map[string]any{}
		for key := range x.(map[string]any) {
			blank[key] = nil
		}
		return blank
	})
	content, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// damaged makes values wrong and leaves the rest of the text unchanged: it adds a character
// to numbers and to words without quotes. It leaves out values with an anchor, which may
// also occur outside of expectations.
func damaged(t *testing.T, text string) string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(text, "\n")
	var scalars []*yaml.Node
	var walk func(n *yaml.Node, expected bool)
	walk = func(n *yaml.Node, expected bool) {
		switch {
		case n.Anchor != "":
		case n.Kind == yaml.MappingNode:
			for i := 0; i < len(n.Content); i += 2 {
				if key := n.Content[i].Value; key != "apiVersion" && key != "kind" {
					walk(n.Content[i+1], expected || key == "expect")
				}
			}
		case n.Kind == yaml.ScalarNode && expected && n.Style == 0 && (n.Tag == "!!int" || n.Tag == "!!str"):
			scalars = append(scalars, n)
		case n.Kind != yaml.ScalarNode:
			for _, c := range n.Content {
				walk(c, expected)
			}
		}
	}
	walk(&doc, false)
	for _, n := range slices.Backward(scalars) {
		line := lines[n.Line-1]
		lines[n.Line-1] = line[:n.Column-1] + map[string]string{"!!int": "1", "!!str": "x"}[n.Tag] + line[n.Column-1:]
	}
	return strings.Join(lines, "")
}

// comments returns the lines that consist of a comment.
func comments(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			all = append(all, line)
		}
	}
	return all
}
