package calls

import (
	"path"
	"strings"
)

// goGenerate adds the calls in go:generate comments. They run in the folder of their file.
func (f *finder) goGenerate() {
	names, err := f.project.Containing(".go", program)
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
			if text, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), "//go:generate "); ok && strings.Contains(text, program) {
				u := &unit{finder: f}
				f.pinned(command{file: name, line: i + 1, text: text})
				u.run(text, name, i+1, path.Join(Root, path.Dir(name)))
			}
		}
	}
}
