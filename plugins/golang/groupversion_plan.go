package golang

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// planGroup plans the file that registers the types of r's package, and returns its form. A
// package without one gets the form of another version of the group, or else the form in new projects.
func planGroup(c *project.Config, r project.Resource, p *scaffold.Plan, vars map[string]string, data apiValues) (groupversion.Form, error) {
	ours := path.Join(c.APIDir(r), groupversion.File)
	if src, err := p.Read(ours); err == nil {
		if _, err := goedit.Parse(ours, src); err != nil {
			return groupversion.Form{}, err
		}
	}
	have, found, err := groupversion.Read(c, r, p)
	if err != nil {
		return groupversion.Form{}, err
	}
	if !found {
		sibling, err := siblingForm(c, r, p)
		if err != nil {
			return groupversion.Form{}, err
		}
		if sibling.IsKnown() && !sibling.IsOurs() {
			data.Form = sibling
			vars["groupfile"] = strings.TrimSuffix(path.Base(sibling.File), ".go")
			if err := tree(p, "groupform", vars, data, p.Share); err != nil {
				return groupversion.Form{}, err
			}
			have, found, err = groupversion.Read(c, r, p)
			if err != nil {
				return groupversion.Form{}, err
			}
		}
	}
	if !found || p.Exists(ours) || p.HasBase(ours) {
		var used string
		if err := tree(p, "group", vars, data, share(p, "SchemeBuilder", &used)); err != nil {
			return groupversion.Form{}, err
		}
		have, _, err = groupversion.Read(c, r, p)
	}
	return have, err
}

// siblingForm returns the form of another version of r's group. It is not known if there is none.
func siblingForm(c *project.Config, r project.Resource, p *scaffold.Plan) (groupversion.Form, error) {
	for _, o := range slices.Backward(c.Resources) {
		sameGroup := o.QualifiedGroup() == r.QualifiedGroup()
		if o.API == nil || o.HasExternalTypes() || !sameGroup || o.Version == r.Version || c.APIDir(o) == c.APIDir(r) {
			continue
		}
		f, _, err := groupversion.Read(c, o, p)
		if err != nil {
			return groupversion.Form{}, err
		}
		if f.IsKnown() {
			if f.Builder == "" {
				f.Builder = "SchemeBuilder"
			}
			f.Markers = packageMarkers(f.Markers, o, r)
			return f, nil
		}
	}
	return groupversion.Form{}, nil
}

// packageMarkers returns the markers of the package of another version for the package of r.
func packageMarkers(markers []string, from, r project.Resource) []string {
	var own []string
	generates := false
	for _, marker := range markers {
		generates = generates || strings.HasPrefix(marker, "+kubebuilder:object:generate=") || strings.HasPrefix(marker, "+k8s:deepcopy-gen=")
		if strings.HasPrefix(marker, "+versionName=") || strings.Contains(marker, "conversion-gen") {
			continue
		}
		if marker = strings.ReplaceAll(marker, "/"+from.Version, "/"+r.Version); !slices.Contains(own, marker) {
			own = append(own, marker)
		}
	}
	if !slices.Contains(own, "+groupName="+r.QualifiedGroup()) {
		own = append(own, "+groupName="+r.QualifiedGroup())
	}
	if !generates {
		own = append(own, "+kubebuilder:object:generate=true")
	}
	return own
}

// registrationLines returns the lines that register r's types, for hints.
func registrationLines(r project.Resource, f groupversion.Form) string {
	function := cmp.Or(f.Func, "AddToScheme")
	return fmt.Sprintf("%[1]s.AddKnownTypes(%[2]s, &%[3]s{}, &%[3]sList{}) // in %[4]s of package %[5]s",
		cmp.Or(f.Scheme, "scheme"), cmp.Or(f.GroupVersion, "GroupVersion"), r.Kind, function, cmp.Or(f.Package, r.Version))
}

// checkForm returns an error if operon cannot register types in a package.
func checkForm(c *project.Config, r project.Resource, f groupversion.Form, unwired bool, p *scaffold.Plan) error {
	if f.OtherVersion != "" {
		return fault.Usage("correct the version and the path of the resource in "+project.File,
			"%s records version %s of kind %s in %s, whose types have the version %s", project.File, r.Version, r.Kind, c.APIDir(r), f.OtherVersion)
	}
	if f.OtherGroup != "" {
		return fault.Usage("correct the group and the domain of the resource in "+project.File+", or run operon adopt",
			"%s records kind %s in the group %s, but the types in %s have the group %s", project.File, r.Kind, r.QualifiedGroup(), c.APIDir(r), f.OtherGroup)
	}
	if f.IsKnown() {
		return nil
	}
	if unwired {
		source.WarnUnwired(c.APIDir(r), registrationLines(r, f), p)
		return nil
	}
	lacks := "no variable with the group and version " + r.QualifiedGroup() + "/" + r.Version
	if f.GroupVersion != "" {
		lacks = "no builder or call of AddKnownTypes that registers types"
	}
	return fault.Failed("declare it; or "+source.UnwiredHint+registrationLines(r, f),
		"%s has %s", c.APIDir(r), lacks)
}

// listKind adds r to the call that registers all types of its package.
func listKind(r project.Resource, f groupversion.Form, unwired bool, p *scaffold.Plan) error {
	if f.Call == "" {
		return nil
	}
	if disk, _, err := p.Before(f.Call); err != nil || unwired && disk != nil {
		source.WarnUnwired(f.Call, registrationLines(r, f), p)
		return err
	}
	return source.Edit(p, f.Call, func(file *goedit.File) error {
		return file.AddArguments("AddKnownTypes", f.GroupVersion, "&"+r.Kind+"{}", "&"+r.Kind+"List{}")
	})
}
