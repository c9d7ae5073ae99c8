package adopt

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/calls"
)

// reportCalls reports the controller-gen calls with which the repository generates. PROJECT records only what make
// prints, because each command that generates reads the others again.
func (r *recorder) reportCalls() {
	for _, c := range r.options.Calls {
		r.found("generates", strings.Join(generatorNames(c.Args), ", "), place{file: c.File}, Certain, "recorded below generate.operon.dev/v1")
	}
	if r.options.Calls != nil {
		return
	}
	all, _ := calls.Find(tree{r.fsys})
	if len(all) == 0 {
		r.found("generates", "as new projects of operon", place{}, Likely, "nothing here calls controller-gen; operon generate --explain has the arguments")
	}
	for _, c := range all {
		at := place{c.File, c.Line}
		if c.Unclear != "" {
			r.missed("a controller-gen call: it depends on "+c.Unclear, at)
			continue
		}
		r.found("generates", strings.Join(generatorNames(c.Args), ", "), at, Certain, "not recorded; operon generate --explain has the arguments")
	}
}

// generatorNames returns the names of the generators in arguments of controller-gen.
func generatorNames(args []string) []string {
	var names []string
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, ":")
		if name, _, isOption := strings.Cut(name, "="); !isOption && name != "output" {
			names = append(names, name)
		}
	}
	return names
}

// tree reads a repository for package calls.
type tree struct{ fs.FS }

// Read implements calls.Project.
func (t tree) Read(name string) ([]byte, error) { return fs.ReadFile(t.FS, name) }

// Below implements calls.Project. It omits dependencies and hidden folders.
func (t tree) Below(dir string) (names []string, err error) {
	err = fs.WalkDir(t.FS, dir, func(name string, e fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil && name == dir:
			return err
		case err != nil:
			return nil // an unreadable folder
		case e.IsDir() && name != dir && (strings.HasPrefix(base, ".") || slices.Contains(skipped, base)):
			return fs.SkipDir
		case e.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// Containing implements calls.Project, for the files of Below.
func (t tree) Containing(extension, text string) (found []string, err error) {
	names, err := t.Below(".")
	for _, name := range names {
		if path.Ext(name) != extension {
			continue
		}
		if content, err := t.Read(name); err == nil && bytes.Contains(content, []byte(text)) {
			found = append(found, name)
		}
	}
	return found, err
}
