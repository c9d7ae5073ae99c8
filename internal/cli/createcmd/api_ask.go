package createcmd

import (
	"slices"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/project"
)

// ask prompts for missing flags if a person can answer.
func (o *createAPI) ask(a *command.App) error {
	w, ok, err := o.wizard(a, project.CheckGroup)
	if err != nil {
		return err
	}
	handled := o.handled()
	o.controller = o.controller && !handled
	if !ok {
		return nil
	}
	if o.noGo {
		w.show()
		return nil
	}
	api, controller := o.answered()
	if !api {
		if err := w.confirm("resource", "Add the API types?", &o.api); err != nil {
			return err
		}
	}
	if !controller && !handled {
		if err := w.confirm("controller", "Add a controller?", &o.controller); err != nil {
			return err
		}
	}
	w.show()
	return nil
}

// handled reports whether the controller of another version handles a new version: flags ask for no other one.
func (o *createAPI) handled() bool {
	r := o.resource
	if !o.api || slices.ContainsFunc(append([]string{"controller"}, controllerFlags...), o.cmd.Flags().Changed) {
		return false
	}
	config := o.project.Config
	return config.Find(r.Group, r.Version, r.Kind) == nil && slices.ContainsFunc(config.Resources, func(other project.Resource) bool {
		return other.Group == r.Group && other.Kind == r.Kind && slices.Contains(other.ControllerNames(), r.Lower())
	})
}

// controllerFlags are the flags that imply a controller.
var controllerFlags = []string{"controller-name", "owns", "watches", "label", "finalizer", "image"}

// answered reports which prompts are superfluous: PROJECT has the types or the controller, or
// another flag implies the controller.
func (o *createAPI) answered() (api, controller bool) {
	controller = slices.ContainsFunc(controllerFlags, o.cmd.Flags().Changed)
	old := o.project.Config.Find(o.resource.Group, o.resource.Version, o.resource.Kind)
	if old == nil {
		return false, controller
	}
	return old.API != nil, controller || len(old.ControllerNames()) > 0
}
