package migrate

import (
	"bytes"
	"maps"
	"path"
	"regexp"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
)

// fromAlpha returns the values in version 3 of a file of version 3-alpha.
func fromAlpha(doc *yamledit.Document, read func(name string) ([]byte, error)) (map[string]any, error) {
	want := maps.Clone(doc.Value)
	if layout, ok := want["layout"].(string); ok {
		want["layout"] = []any{layout}
	}
	repo, _ := want["repo"].(string)
	a := alpha{repo: repo, read: read}
	a.domain, _ = want["domain"].(string)
	a.multigroup, _ = want["multigroup"].(bool)
	list, _ := want["resources"].([]any)
	var resources []any
	for i, item := range list {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, fault.In(doc.Place([]any{"resources", i}), fault.Usage("write group, version and kind", "the resource is not a mapping"))
		}
		resources = append(resources, a.resource(m).Entry())
	}
	if resources != nil {
		want["resources"] = resources
	}
	return want, nil
}

// alpha is a project with a PROJECT file of version 3-alpha.
type alpha struct {
	repo, domain string // repo is empty in projects without Go
	multigroup   bool
	read         func(name string) ([]byte, error)
}

// resource converts an entry of resources.
func (a alpha) resource(m map[string]any) project.Resource {
	r := project.Resource{Domain: a.domain}
	r.Group, _ = m["group"].(string)
	r.Version, _ = m["version"].(string)
	r.Kind, _ = m["kind"].(string)
	crdVersion, _ := m["crdVersion"].(string)
	webhookVersion, _ := m["webhookVersion"].(string)
	if crdVersion == "" {
		if k, err := project.FindCore(r.Group, r.Version, r.Kind); err == nil {
			r = k.Resource()
		}
	} else {
		file := "config/crd/bases/" + r.QualifiedGroup() + "_" + r.PluralName() + ".yaml"
		r.API = &project.API{CRDVersion: crdVersion, Namespaced: !a.matches(file, `(?m)^  scope: Cluster$`)}
	}
	if a.repo == "" {
		return r
	}
	types := path.Join("api", r.Version)
	controllers := "controllers"
	if a.multigroup {
		types, controllers = path.Join("apis", r.Group, r.Version), path.Join("controllers", r.Group)
	}
	if !r.Core {
		r.Path = path.Join(a.repo, types)
	}
	r.Controller = a.matches(path.Join(controllers, r.Lower()+"_controller.go"), `(?m)^func `)
	if webhookVersion != "" {
		file := path.Join(types, r.Lower()+"_webhook.go")
		r.Webhooks = &project.Webhooks{
			WebhookVersion: webhookVersion,
			Defaulting:     a.matches(file, `(?m)^func \(.*\) Default\(`),
			Validation:     a.matches(file, `(?m)^func \(.*\) ValidateCreate\(`),
			Conversion:     a.matches(path.Join(types, r.Lower()+"_conversion.go"), `(?m)^func \(.*\) (Hub|ConvertTo)\(`),
		}
	}
	return r
}

// matches reports whether a file exists and its content matches.
func (a alpha) matches(name, pattern string) bool {
	src, err := a.read(name)
	return err == nil && regexp.MustCompile(pattern).Match(bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n")))
}
