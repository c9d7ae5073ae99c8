package calls

import (
	"path"
	"strings"
)

// directive begins a line with a command that go generate runs. A space or a tab follows.
const directive = "//go:generate"

// goGenerate adds the calls in go:generate comments. They run in the folder of their file.
func (f *finder) goGenerate() {
	names, err := f.project.Containing(".go", directive)
	if err != nil {
		return
	}
	for _, name := range names {
		if strings.HasPrefix(name, "vendor/") || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		content, err := f.project.Read(name)
		if err != nil {
			continue
		}
		for i, line := range strings.Split(string(content), "\n") {
			after, is := strings.CutPrefix(strings.TrimRight(line, "\r"), directive)
			text := strings.TrimLeft(after, " \t")
			if !is || text == after || !strings.Contains(text, program) {
				continue
			}
			u := &unit{finder: f}
			f.pinned(command{file: name, line: i + 1, text: text})
			u.run(text, name, i+1, path.Join(Root, path.Dir(name)))
		}
	}
}
