// Package consistency finds disagreements of PROJECT with the sources. If PROJECT was edited by hand or
// merged badly, operon would write a kind or a controller a second time, at another place. The bases show
// what operon wrote, so that code which the user moved, renamed or deleted is not an error.
package consistency

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Layout returns an error if PROJECT has another layout or scope than the code that operon
// wrote.
func Layout(c *project.Config, p *scaffold.Plan) error {
	other := c.Clone()
	other.MultiGroup = !c.MultiGroup
	var here, there []string
	for _, r := range c.Resources {
		here = append(here, handWritten(c, r)...)
		there = append(there, handWritten(other, r)...)
	}
	for i, name := range there {
		if !written(p, name) || slices.Contains(here, name) || p.Exists(here[i]) {
			continue
		}
		if c.MultiGroup {
			return fault.Usage("remove multigroup: true, and run operon edit --multigroup, which moves the files",
				"%s has multigroup: true, but %s is not in a folder of its group", project.File, name)
		}
		return fault.Usage("add multigroup: true; to move the files, run operon edit --multigroup=false after that",
			"%s lacks multigroup: true, but %s is in a folder of its group", project.File, name)
	}
	return checkScope(c, p)
}

// handWritten returns the files with r's controllers and webhooks.
func handWritten(c *project.Config, r project.Resource) []string {
	var names []string
	for _, name := range r.ControllerNames() {
		names = append(names, c.ReconcilerFile(r, name))
	}
	return append(names, c.WebhookDir(r)+"/"+r.Lower()+"_webhook.go")
}

// written reports whether operon wrote a file that still exists.
func written(p *scaffold.Plan, name string) bool { return p.HasBase(name) && p.Exists(name) }

// checkScope compares the key namespaced with the manager.
func checkScope(c *project.Config, p *scaffold.Plan) error {
	_, base, err := p.Before(c.MainFile())
	if err != nil || base == nil || bytes.Contains(base, []byte(manager.WatchVariable)) == c.Namespaced {
		return err
	}
	limiting, err := manager.ReadsNamespaces(c, p)
	if err != nil || (limiting != "") == c.Namespaced {
		return err
	}
	if c.Namespaced {
		return fault.Usage("remove namespaced: true, and run operon edit --namespaced, which changes the code and the permissions, too",
			"%s has namespaced: true, but the manager watches all namespaces", project.File)
	}
	return fault.Usage("add namespaced: true; to revert the code and the permissions, too, run operon edit --namespaced=false after that",
		"%s lacks namespaced: true, but the manager watches only the namespaces in %s", project.File, manager.WatchVariable)
}

// Resource returns an error if PROJECT records types or controllers of r that neither the sources nor
// operon's state have. recorded is PROJECT before this command.
func Resource(c, recorded *project.Config, r project.Resource, p *scaffold.Plan) error {
	before := recorded.Recorded(r)
	if r.API != nil && before.API == nil {
		return checkSiblings(c, recorded, r, p)
	}
	if r.API != nil {
		if known, err := known(c.APIDir(r), r.Kind, c.TypesFile(r), p); err != nil || !known {
			return orMissing(err, "correct the kind, the version and the path in "+project.File+", or remove the resource and create it with operon create api",
				"%s records kind %s in %s, which does not declare the type %s", project.File, r.Kind, c.APIDir(r), r.Kind)
		}
		if err := checkGroupName(c, r, p); err != nil {
			return err
		}
	}
	for _, name := range r.ControllerNames() {
		if !slices.Contains(before.ControllerNames(), name) {
			continue
		}
		if known, err := known(c.ControllerDir(r), r.Reconciler(name), c.ReconcilerFile(r, name), p); err != nil || !known {
			return orMissing(err, "remove the controller from "+project.File+", and create it with operon create api --resource=false --controller-name "+name+"; or restore the code from version control",
				"%s records the controller %s of kind %s, but %s does not declare the type %s", project.File, name, r.Kind, c.ControllerDir(r), r.Reconciler(name))
		}
	}
	return checkOwn(c, r, p)
}

func orMissing(err error, hint, format string, args ...any) error {
	if err != nil {
		return err
	}
	return fault.Usage(hint, format, args...)
}

// known reports whether a package declares a type, or operon declared it in the file, which the
// user then changed or deleted.
func known(dir, name, file string, p *scaffold.Plan) (bool, error) {
	at, err := source.Declaring(dir, name, p)
	if err != nil || at != "" {
		return err == nil, err
	}
	if _, err := p.Read(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if !p.HasBase(file) {
		return p.Exists(file), nil // a file of another tool is kept, or conflicts
	}
	_, base, err := p.Before(file)
	if err != nil {
		return false, err
	}
	f, err := goedit.Parse(file, base)
	return err != nil || f.Declares()[name] > 0, nil
}

// checkSiblings checks the folder of new types: PROJECT can record a folder for the kinds of
// their group and version. In the folders of other versions of the group, a struct with the name of
// the kind is a version of it for controller-gen.
func checkSiblings(c, recorded *project.Config, r project.Resource, p *scaffold.Plan) error {
	for _, o := range recorded.Resources {
		otherVersion := o.QualifiedGroup() == r.QualifiedGroup() && o.Version != r.Version
		if o.API != nil && !o.HasExternalTypes() && otherVersion && c.Find(r.Group, o.Version, r.Kind) == nil {
			file, err := source.Declaring(c.APIDir(o), r.Kind, p)
			if err != nil {
				return err
			}
			if file != "" {
				return fault.Usage("choose another kind, or rename that type", "%s declares the type %s, which controller-gen would take for version %s of the kind", file, r.Kind, o.Version)
			}
		}
		sameFolder := o.Version == r.Version && c.APIDir(o) == c.APIDir(r)
		if o.API == nil || o.HasExternalTypes() || o.SameKind(r) || !sameFolder || p.HasBase(c.TypesFile(o)) {
			continue
		}
		files, err := source.Files(c.APIDir(o), p)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fault.Usage("correct the path of the resource in "+project.File, "%s records kind %s in %s, which has no Go files", project.File, o.Kind, c.APIDir(o))
		}
	}
	return nil
}

// checkGroupName compares the group of r with the group in the types that operon wrote.
func checkGroupName(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	file := path.Join(c.APIDir(r), "groupversion_info.go")
	disk, _, err := p.Before(file)
	if err != nil {
		return err
	}
	_, base, err := p.Before(c.TypesFile(r))
	group := groupName(disk)
	if err != nil || group == "" || group == r.QualifiedGroup() || !bytes.Contains(base, []byte("API group "+group+".")) {
		return err
	}
	return fault.Usage("correct the group and the domain of the resource in "+project.File,
		"%s records kind %s in the group %s, but %s has +groupName=%s", project.File, r.Kind, r.QualifiedGroup(), file, group)
}

func groupName(src []byte) string {
	_, rest, _ := strings.Cut(string(src), "\n// +groupName=")
	name, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(name)
}

// checkOwn returns an error for a kind that is recorded as one of another module, but whose types
// operon wrote.
func checkOwn(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	dir, inRepo := strings.CutPrefix(r.Path, c.Repo+"/")
	if r.HasExternalTypes() && inRepo && written(p, dir+"/"+r.Lower()+"_types.go") {
		return fault.Usage("remove external and core from the resource", "%s records kind %s as one of another module, but its types are in %s", project.File, r.Kind, dir)
	}
	return nil
}

// Webhooks returns an error if operon wrote a webhook that PROJECT lacks: rendering the
// webhooks again would remove its code and leave its test.
func Webhooks(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	known := c.Find(r.Group, r.Version, r.Kind)
	if known == nil || known.Webhooks == nil {
		return nil
	}
	for _, w := range []struct {
		key, file string
		on        bool
	}{{"defaulting", "defaulter", known.Webhooks.Defaulting}, {"validation", "validator", known.Webhooks.Validation}} {
		test := c.WebhookDir(r) + "/" + r.Lower() + "_" + w.file + "_test.go"
		if !w.on && written(p, test) {
			return fault.Usage("add "+w.key+": true to its webhooks; or delete the code of the webhook and "+test,
				"%s records no %s webhook for kind %s, but operon created one", project.File, w.key, r.Kind)
		}
	}
	return nil
}

// Types returns an error if the sources of the project do not declare the type of r, as far as they parse.
func Types(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if r.API == nil || r.HasExternalTypes() {
		return nil
	}
	files := source.NewReader(p)
	declared, err := files.Declares(c.APIDir(r), r.Kind)
	if err != nil || declared {
		return err
	}
	names, err := p.Files(c.APIDir(r))
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if f, err := files.File(path.Join(c.APIDir(r), name)); err != nil || f.Parsed == nil {
			return err // the generators report the syntax error
		}
	}
	return fault.Usage("restore the type; or, if you renamed it, change the kind in "+project.File, "no file in %s declares the type %s", c.APIDir(r), r.Kind)
}

// Package returns an error if the folder of r's types is not in the module, or would have two
// packages. PROJECT and the sources then disagree about the version or the path of a kind.
func Package(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if r.API == nil || r.HasExternalTypes() {
		return nil
	}
	if _, _, own := modules.OfFolder(c.APIDir(r), p); !own && r.Path != "" && !strings.HasPrefix(r.Path+"/", c.Repo+"/") {
		return fault.Usage("correct the path in "+project.File+", or add external: true if another module defines the types",
			"%s has the path %s for the types of kind %s, which is outside the module %s", project.File, r.Path, r.Kind, c.Repo)
	}
	files, err := source.Files(c.APIDir(r), p)
	if err != nil {
		return err
	}
	var first source.File
	for _, f := range files {
		switch {
		case f.Parsed.Package() == "main": // a program that the build ignores
		case first.Parsed == nil:
			first = f
		case f.Parsed.Package() != first.Parsed.Package():
			return fault.Usage("correct the version and the path of the resource in "+project.File,
				"%s records version %s of kind %s in %s, whose files would have the packages %s and %s",
				project.File, r.Version, r.Kind, c.APIDir(r), first.Parsed.Package(), f.Parsed.Package())
		}
	}
	return nil
}
