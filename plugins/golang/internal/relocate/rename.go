package relocate

import (
	"path"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// rename gives controllers the names of the new layout. Only these names are unique among the
// controllers that later commands add. Logs and metrics show them.
func (m *move) rename() error {
	names, err := source.ModuleFiles(m.plan)
	if err != nil {
		return err
	}
	for i, old := range m.before.Resources {
		r := m.after.Resources[i]
		for _, controller := range r.ControllerNames() {
			was, is := m.before.ControllerName(old, controller), m.after.ControllerName(r, controller)
			if was == is {
				continue
			}
			did := false
			for _, name := range names {
				dir := path.Dir(name)
				if source.IsTest(name) || dir != m.after.ControllerDir(r) && dir != path.Dir(m.after.MainFile()) {
					continue
				}
				err := source.Edit(m.plan, name, func(f *goedit.File) error {
					if dir == path.Dir(m.after.MainFile()) {
						return f.ReplaceString("Error", "controller", was, is)
					}
					if f.Declares()[r.Reconciler(controller)] == 0 {
						return nil
					}
					did = did || f.Calls("Named", was)
					return f.ReplaceString("Named", "", was, is)
				})
				if err != nil {
					return err
				}
			}
			if did {
				m.plan.Warn(scaffold.Warning{File: m.after.ControllerDir(r), Rule: "renamed",
					Message: "the name of the controller in logs and metrics is now " + is + " instead of " + was})
			}
		}
	}
	return nil
}
