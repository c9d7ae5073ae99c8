package golang

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Kinds with --ssa have apply configurations, which controller-gen's generator applyconfiguration
// makes for a package: for all of its kinds with a marker resource, except for those that opt out.

// structuredMergeDiff is a module that apply configurations import.
const structuredMergeDiff = "sigs.k8s.io/structured-merge-diff/v6"

const (
	packageApplies = "// +" + request.MarkerApply + "=true"
	kindOptsOut    = "// +" + request.MarkerApply + "=false"
)

// applyValues are the template values of a kind with apply configurations.
type applyValues struct {
	Root string // the package with the converter of types
	Path string // the package of the apply configuration
}

// RootAlias is the name under which tests import the package with the converter; "" if the package has it.
func (v applyValues) RootAlias() string {
	if path.Base(v.Root) == request.ApplyConfigurations {
		return ""
	}
	return request.ApplyConfigurations
}

// readApply returns the values for r, or nil if it has no apply configurations.
func readApply(c *project.Config, r project.Resource, p *scaffold.Plan) (*applyValues, error) {
	if !r.HasApplyConfigurations() {
		return nil, nil //nolint:nilnil // templates test for nil
	}
	folder, err := applyFolder(c, r, p)
	root := path.Join(c.APIPath(r), folder)
	group := path.Base(path.Dir(c.APIPath(r)))
	return &applyValues{Root: root, Path: path.Join(root, strings.ToLower(group), strings.ToLower(path.Base(c.APIPath(r))))}, err
}

// applyFolder returns the folder for apply configurations, relative to the folder of r's types: a marker in the package
// can choose it.
func applyFolder(c *project.Config, r project.Resource, p *scaffold.Plan) (string, error) {
	files, err := source.Files(c.APIDir(r), p)
	for _, f := range files {
		if folder := request.ApplyFolder(f.Src); folder != "" {
			return folder, err
		}
	}
	return request.ApplyConfigurations, err
}

// planApply marks the package of r's types if it has a kind with apply configurations, and the kinds in
// it that have none. For such a kind, it also completes the Makefile.
func planApply(e plugin.Event, r project.Resource, library libraries.Values, p *scaffold.Plan) error {
	c := e.Project
	shares := func(o project.Resource) bool { return o.API != nil && c.APIDir(o) == c.APIDir(r) }
	if !r.HasApplyConfigurations() && !slices.ContainsFunc(c.Resources, func(o project.Resource) bool {
		return shares(o) && o.HasApplyConfigurations()
	}) {
		return nil
	}
	for _, o := range append([]project.Resource{r}, c.Resources...) {
		if !shares(o) || o.HasApplyConfigurations() && !o.SameVersion(r) {
			continue
		}
		if o.SameVersion(r) {
			o = r
		}
		if err := markType(c, o, p); err != nil {
			return err
		}
	}
	if !r.HasApplyConfigurations() {
		return nil
	}
	if err := checkApply(c, r, library, p); err != nil {
		return err
	}
	if err := markPackage(c, r, p); err != nil {
		return err
	}
	return controllerGen(e, p).Apply()
}

// checkApply returns an error if the code for apply configurations would not compile.
func checkApply(c *project.Config, r project.Resource, library libraries.Values, p *scaffold.Plan) error {
	if err := library.CheckApply(); err != nil {
		return err
	}
	const name = "SchemeGroupVersion"
	if file, err := source.Declaring(c.APIDir(r), name, p); file != "" || err != nil {
		return err
	}
	form, _, err := groupversion.Read(c, r, p)
	if err != nil {
		return err
	}
	return fault.Failed("add var "+name+" = "+form.GroupVersion+" to "+form.File, "%s does not declare %s, which apply configurations use", c.APIDir(r), name)
}

// markPackage turns the generator on for the package of r's types.
func markPackage(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	files, err := source.Files(c.APIDir(r), p)
	if err != nil {
		return err
	}
	group := "// +groupName=" + r.QualifiedGroup()
	for _, f := range files {
		if above, _, _ := bytes.Cut(slices.Concat([]byte("\n"), f.Src), []byte("\npackage ")); bytes.Contains(above, []byte(packageApplies)) {
			return nil
		}
	}
	for _, f := range files {
		if !bytes.Contains(f.Src, []byte(group+"\n")) {
			continue
		}
		return p.Edit(f.Name, func(src []byte) ([]byte, error) {
			return bytes.Replace(src, []byte(group+"\n"), []byte(packageApplies+"\n"+group+"\n"), 1), nil
		})
	}
	return fault.Failed("add this line to the comment above the package: "+packageApplies,
		"%s has no comment %s; operon turns apply configurations on next to it", c.APIDir(r), group)
}

// markType marks a kind with or without apply configurations, unless its file says something about them. Without that
// marker, a kind has them only as long as it has the marker resource.
func markType(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	name, marker := c.TypesFile(r), kindOptsOut
	if r.HasApplyConfigurations() {
		marker = packageApplies // for the type alone
	}
	if !p.Exists(name) {
		return nil // the user moved the types
	}
	disk, base, err := p.Before(name)
	if err != nil || disk != nil && bytes.Contains(base, []byte(marker)) && !bytes.Contains(disk, []byte(marker)) {
		return err // the user removed it
	}
	return p.Edit(name, func(src []byte) ([]byte, error) {
		markers, at := markersOf(r.Kind, string(src))
		switch {
		case strings.Contains(markers, "+"+request.MarkerApply+"="):
			return src, nil
		case at >= 0: // the same place in each order of commands
			return slices.Concat(src[:at], []byte(marker+"\n"), src[at:]), nil
		}
		f, err := goedit.Parse(name, src)
		if err != nil {
			return nil, err
		}
		if err := f.MarkType(r.Kind, marker); err != nil {
			return nil, err
		}
		return f.Bytes()
	})
}

// markersOf returns the text above the type of a kind, and the position of its marker object:root, or -1.
func markersOf(kind, src string) (markers string, at int) {
	end := strings.Index(src, "\ntype "+kind+" struct {")
	if end < 0 {
		return "", -1
	}
	start := strings.LastIndex(src[:end], "\n}") + 1
	markers = src[start:end]
	if at = strings.LastIndex(markers, "\n// +kubebuilder:object:root=true\n"); at >= 0 {
		at += start + 1
	}
	return markers, at
}
