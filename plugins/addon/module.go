package addon

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/module"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/templates"
)

// commonValues contains the enabled flags of all modules, and shared values.
const commonValues = "modules/values.yaml"

// moduleName matches names that are also valid for Helm releases, because each module becomes
// a release.
var moduleName = lazyregexp.New(`^[a-z][-a-z0-9]{0,51}[a-z0-9]$`)

// maxWeight is the largest weight that fits in three digits.
const maxWeight = 999

// checkModuleName validates the name of a new module.
func checkModuleName(s string) error {
	switch {
	case s == "":
		return fault.Usage("for example: operon create module cert-manager", "the name of the module is missing")
	case s == "global":
		return fault.Usage("choose another name", "module name %q is reserved for global values", s)
	case !moduleName().MatchString(s):
		return fault.Usage("use 2 to 53 lower-case letters, digits and '-', starting with a letter; --weight sets the order of modules", "module name %q is not a valid name of a Helm release", s)
	}
	if wrong := module.CheckName(s); wrong != "" {
		return fault.Usage("addon-operator finds its values by the name in camel case", "module name %q %s", s, wrong)
	}
	if wrong := module.CheckKey(s); wrong != "" {
		return fault.Usage("choose another name", "module name %q %s", s, wrong)
	}
	return project.CheckFileName("module name", s)
}

// Folder returns the path of the module in the project.
func (m Module) Folder() string { return fmt.Sprintf("modules/%03d-%s", m.Weight, m.Name) }

// createModule plans and records the module that the options describe.
func createModule(e plugin.Event, p *scaffold.Plan) error {
	r, err := recorded(e.Project)
	if err != nil {
		return err
	}
	m := Module{Name: e.Name, Enabled: e.Bool("enabled-script")}
	if err := checkModuleName(m.Name); err != nil {
		return err
	}
	old, known := r.module(m.Name)
	if m.Weight = old.Weight; !known || e.String("weight") != "" {
		if m.Weight, err = r.weight(e.String("weight")); err != nil {
			return err
		}
	}
	switch {
	case known && m.Weight != old.Weight:
		return fault.Usage("leave out --weight, or rename the folder and change PROJECT", "the module %s exists with --weight %d", m.Name, old.Weight)
	case known:
		m.Enabled = m.Enabled || old.Enabled
		for i := range r.Modules {
			if r.Modules[i].Name == m.Name {
				r.Modules[i] = m
			}
		}
	default:
		if err := checkNewModule(m.Name, p); err != nil {
			return err
		}
		r.Modules = append(r.Modules, m)
		p.Adds(func(name string) bool {
			return strings.HasPrefix(name, "modules/"+m.Folder()+"/") || name == testFile(m)
		})
	}
	e.Project.EncodePluginConfig(Key, r)
	return planModule(m, p)
}

// checkNewModule rejects the name of an existing module that PROJECT does not record.
func checkNewModule(name string, p *scaffold.Plan) error {
	files, err := p.Below("modules")
	if err != nil {
		return err
	}
	for _, file := range files {
		folder, _, inside := strings.Cut(strings.TrimPrefix(file, "modules/"), "/")
		if other, _ := module.ParseFolder(folder); inside && other == name && p.Exists(file) {
			return fault.Usage("choose another name, or move that folder away", "the module %s exists, but PROJECT does not record it: modules/%s", name, folder)
		}
	}
	return nil
}

// checkFolder rejects a recorded module whose folder has another weight: operon would write the
// module a second time.
func (m Module) checkFolder(p *scaffold.Plan) error {
	if p.HasBase(m.Folder() + "/Chart.yaml") {
		return nil
	}
	files, err := p.Below("modules")
	if err != nil {
		return err
	}
	for _, file := range files {
		folder, _, inside := strings.Cut(strings.TrimPrefix(file, "modules/"), "/")
		if name, _ := module.ParseFolder(folder); inside && name == m.Name && p.Exists(file) && "modules/"+folder != m.Folder() {
			return fault.Usage("correct the weight, or rename the folder", "%s records the module %s with the weight %d, but its folder is modules/%s",
				project.File, m.Name, m.Weight, folder)
		}
	}
	return nil
}

// weight parses --weight. The default is the next multiple of ten.
func (r record) weight(given string) (int, error) {
	if given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 || n > maxWeight {
			return 0, fault.Usage("use --weight 100, for example; modules are installed in ascending order", "--weight %s is not a number from 0 to %d", given, maxWeight)
		}
		return n, nil
	}
	next := 10
	for _, m := range r.Modules {
		next = max(next, m.Weight/10*10+10)
	}
	return min(next, maxWeight), nil
}

// testFile is the file with the tests of the module's hooks.
func testFile(m Module) string { return "test/hooks/" + m.Name + ".yaml" }

// planModule plans the files of a module. It enables the module unless there is already a flag
// for it.
func planModule(m Module, p *scaffold.Plan) error {
	data := struct {
		Module
		Key, Folder string
	}{m, module.Key(m.Name), m.Folder()}
	vars := map[string]string{"module": m.Folder()}
	if err := render.Tree(p.Templates(templates.FS), "addon/module", vars, data, p.Seed); err != nil {
		return err
	}
	if err := render.Tree(p.Templates(templates.FS), "addon/test", map[string]string{"file": testFile(m)}, data, p.Seed); err != nil {
		return err
	}
	if m.Enabled {
		if err := render.Tree(p.Templates(templates.FS), "addon/enabled", vars, data, p.Seed); err != nil {
			return err
		}
	}
	return p.Edit(commonValues, func(src []byte) ([]byte, error) { return addEnabledFlag(src, module.Key(m.Name)+"Enabled") })
}

// addEnabledFlag adds an enabled flag to the values of all modules, unless it exists.
func addEnabledFlag(src []byte, key string) ([]byte, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, err
	}
	if _, there := doc.Value[key]; there {
		return src, nil
	}
	want := maps.Clone(doc.Value)
	if want == nil {
		want = map[string]any{}
	}
	want[key] = true
	return yamledit.Reconcile(src, doc.Value, want, func(a, b any) bool { return false })
}
