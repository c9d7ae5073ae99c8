// Package teamtemplates puts the templates of a team in front of operon's own. A template replaces
// the one of operon that has the same path, such as golang/init/Makefile.tmpl. It lies in
// .operon/templates of the project, or of a folder that several projects share.
//
// A template of a team is a copy of operon's at first. The merge bases of its folder have that copy,
// as the merge bases of a project have the files that operon created. So a newer operon can tell what has
// changed in its template since.
package teamtemplates

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
)

// maxSize limits the size of a template.
const maxSize = 1 << 20

// fixed are the names of templates that no template of a team replaces: their hashes and versions
// belong to the code in the other templates.
var fixed = []string{"go.mod.tmpl", "go.sum"}

// Template is a template of a team.
type Template struct {
	Name    string // the path of operon's template that it replaces
	File    string // where the user finds it
	Content []byte
	Copied  []byte // operon's template when it was copied; nil: unknown
}

// Outdated reports whether operon's own template differs from the one that was copied.
func (t Template) Outdated(own fs.FS) bool {
	now, err := fs.ReadFile(own, t.Name)
	return err == nil && t.Copied != nil && !bytes.Equal(now, t.Copied)
}

// File returns the path of a template in a project, or in a folder of templates.
func File(name string) string { return scaffold.TemplatesDir + "/" + name }

// Names returns the names of operon's templates that a team can replace, in lexical order. prefix is a
// folder or a template of them; "" is for all.
func Names(own fs.FS, prefix string) ([]string, error) {
	var names []string
	err := fs.WalkDir(own, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && replaceable(name) && (prefix == "" || name == prefix || strings.HasPrefix(name, prefix+"/")) {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

func replaceable(name string) bool { return !slices.Contains(fixed, path.Base(name)) }

// Check returns an error unless name belongs to a template that a team can replace. Its hint has
// the most similar name.
func Check(own fs.FS, name string) error {
	info, err := fs.Stat(own, name)
	switch {
	case err == nil && !info.IsDir() && replaceable(name):
		return nil
	case err == nil && !info.IsDir():
		return fault.Usage("add requirements to go.mod of the project", "operon completes %s itself, so no template replaces it", name)
	case err == nil:
		return fault.Usage("operon templates list "+name+" lists them", "%s is a folder of templates", name)
	}
	names, err := Names(own, "")
	if err != nil {
		return err
	}
	hint := "operon templates list lists all"
	below := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasSuffix(n, "/"+name) })
	if len(below) > 0 { // without the folder of its plugin
		hint = "did you mean " + strings.Join(below, " or ") + "?"
	} else if near := fault.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if i := slices.IndexFunc(names, func(n string) bool { return path.Base(n) == path.Base(name) }); i >= 0 {
		hint = "did you mean " + names[i] + "?"
	}
	return fault.Usage(hint, "operon has no template %s", name)
}

// readTemplates returns the templates in the project, or in the folder of templates, that src is a plan for.
// prefix says where it is, for messages; "" is the project itself. unknown has an error for each file that
// replaces none of operon's templates, except for files of editors and other programs. Templates that do
// not parse are an error.
func readTemplates(src *scaffold.Plan, prefix string, own fs.FS) (all []Template, unknown []error, err error) {
	if has, err := src.HasTemplates(); err != nil || !has {
		return nil, nil, err
	}
	files, err := src.Below(scaffold.TemplatesDir)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		content, base, err := src.Before(file)
		if err != nil {
			return nil, nil, err
		}
		if content == nil {
			continue // the user deleted it: operon's own counts again
		}
		t := Template{Name: strings.TrimPrefix(file, scaffold.TemplatesDir+"/"), File: path.Join(prefix, file), Content: content, Copied: base}
		if _, err := fs.Stat(own, t.Name); err != nil {
			if !isLeftover(path.Base(file)) {
				unknown = append(unknown, fault.In(t.File, Check(own, t.Name)))
			}
			continue
		}
		if err := t.check(own); err != nil {
			return nil, nil, err
		}
		all = append(all, t)
	}
	return all, unknown, nil
}

// isLeftover reports whether a file is one of an editor, of git or of a file manager.
func isLeftover(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~")
}

func (t Template) check(own fs.FS) error {
	if err := Check(own, t.Name); err != nil {
		return fault.In(t.File, err)
	}
	if len(t.Content) > maxSize || bytes.IndexByte(t.Content, 0) >= 0 {
		return fault.Usage("templates are texts of at most 1 MiB", "%s is not a text template", t.File)
	}
	if !strings.HasSuffix(t.Name, render.Suffix) {
		return nil
	}
	if err := render.Parse(t.Name, string(t.Content)); err != nil {
		return render.Explain(t.File, t.Name, err)
	}
	return nil
}

// layered is operon's own templates with a team's in front.
type layered struct {
	fs.FS
	team map[string]Template
}

// Layer returns own with the templates of a team in front. Of two with the same name, the last one
// counts.
func Layer(own fs.FS, team []Template) fs.FS {
	l := layered{own, map[string]Template{}}
	for _, t := range team {
		l.team[t.Name] = t
	}
	return l
}

// ReadFile implements fs.ReadFileFS.
func (l layered) ReadFile(name string) ([]byte, error) {
	if t, ok := l.team[name]; ok {
		return t.Content, nil
	}
	return fs.ReadFile(l.FS, name)
}

// UserFile implements render.UserFiles.
func (l layered) UserFile(name string) string { return l.team[name].File }

// Checksum returns the SHA-256 of the names and contents of templates, in hex.
func Checksum(all []Template) string {
	sum := sha256.New()
	for _, t := range all {
		_, _ = fmt.Fprintf(sum, "%q %d\n%s", t.Name, len(t.Content), t.Content)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
