package manager

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// checkControllers warns about controllers that do not exist or are not set up.
func (k checker) checkControllers(r project.Resource, line int) error {
	dir := k.c.ControllerDir(r)
	for _, name := range r.ControllerNames() {
		reconciler := r.Reconciler(name)
		declared, err := k.files.Declares(dir, reconciler)
		if err != nil {
			return err
		}
		makes := func(f *goedit.File) bool { return f.Makes(reconciler) }
		// Other code may name its reconciler in its own way.
		builds := func(f *goedit.File) bool { return f.Makes(r.Kind) && slices.ContainsFunc(controllerCalls, f.Mentions) }
		w := setUp(k.c, r, name, k.main)
		switch {
		case k.manager.Any(w.done), k.manager.In(dir).Any(makes), !declared && (k.manager.Any(makes) || k.manager.Any(builds)):
		case !declared && !k.knowsManager(): // and the controller may be in an unknown place, too
		case !declared:
			if elsewhere, err := k.declares(reconciler); err != nil || elsewhere {
				return err // another program of the repository has it
			}
			if elsewhere, err := k.files.AnyInModule(k.c.APIPath(r), builds); err != nil || elsewhere {
				return err
			}
			k.p.Warn(scaffold.Warning{File: project.File, Line: line, Rule: ruleControllerGone, Message: fmt.Sprintf(
				"the controller %s of this resource is missing: %s declares no %s; remove it from PROJECT, or restore the type from version control",
				name, dir, reconciler)})
		default:
			k.unwired(w, scaffold.Warning{Rule: ruleControllerUnwired,
				Message: fmt.Sprintf("nothing sets up the controller %s of %s; add these lines, or repeat operon create api for it", name, r.Kind)})
		}
	}
	return nil
}

// controllerCalls are names in code that makes a controller: in the calls of a builder, and in the watch of the
// controller's own kind.
var controllerCalls = []string{"NewControllerManagedBy", "ControllerManagedBy", "EnqueueRequestForObject", "TypedEnqueueRequestForObject"}

// checkWebhooks warns about webhooks that do not exist or are not served.
func (k checker) checkWebhooks(r project.Resource, line int) error {
	if w := r.Webhooks; w == nil || !w.Defaulting && !w.Validation && !w.Conversion {
		return nil
	}
	dir, setup := k.c.WebhookDir(r), r.WebhookSetup()
	declared, err := k.files.Declares(dir, setup)
	if err != nil {
		return err
	}
	calls := func(f *goedit.File) bool { return f.Declares()[setup] == 0 && f.Mentions(setup) }
	// In projects of kubebuilder v3 and earlier, a method of the type sets up the webhooks.
	older := func(f *goedit.File) bool { return f.Makes(r.Kind) && f.Mentions("SetupWebhookWithManager") }
	// Other code may build them in its own way.
	builds := func(f *goedit.File) bool {
		return f.Makes(r.Kind) && (f.Mentions("NewWebhookManagedBy") || f.Mentions("WebhookManagedBy"))
	}
	w := serveWebhook(k.c, r, k.main)
	switch {
	case k.manager.Any(w.done), k.manager.In(dir).Any(calls),
		!declared && (k.manager.Any(calls) || k.manager.Any(older) || k.manager.Any(builds)):
	case !declared && !k.knowsManager(): // as for controllers
	case !declared:
		if inCode, err := k.hasWebhook(r); err != nil || inCode {
			return err
		}
		if elsewhere, err := k.files.AnyInModule(k.c.APIPath(r), builds); err != nil || elsewhere {
			return err // another program of the repository serves them
		}
		k.p.Warn(scaffold.Warning{File: project.File, Line: line, Rule: ruleWebhookGone, Message: fmt.Sprintf(
			"the webhooks of this resource are missing: %s declares no %s; remove them from PROJECT, or restore the function from version control", dir, setup)})
	default:
		other, err := k.main.webhookProgram(k.c, k.p)
		if err != nil || source.Program(other.files).Any(w.done) {
			return err
		}
		k.unwired(w, scaffold.Warning{Rule: ruleWebhookUnwired,
			Message: fmt.Sprintf("nothing serves the webhooks of %s %s; add these lines, or repeat operon create webhook for it", r.Version, r.Kind)})
	}
	return nil
}

// hasWebhook reports whether the repository has code for the webhooks of r in another form: methods of its type, which
// another program or a loop over all types serves, or a marker in the manager's program. The server for the conversion
// of one kind serves the conversions of all.
func (k checker) hasWebhook(r project.Resource) (bool, error) {
	methods := []string{"SetupWebhookWithManager", "ValidateCreate", "Default"}
	if w := r.Webhooks; !w.Defaulting && !w.Validation && !k.p.HasBase(path.Join(k.c.WebhookDir(r), r.Lower()+"_webhook.go")) {
		methods = append(methods, "Hub", "ConvertTo")
	}
	for _, method := range methods {
		if file, err := source.Declaring(k.c.APIDir(r), r.Kind+"."+method, k.p); err != nil || file != "" {
			return file != "", err
		}
	}
	return slices.ContainsFunc(k.manager, func(s source.File) bool {
		for line := range bytes.Lines(s.Src) {
			if bytes.Contains(line, []byte("+kubebuilder:webhook:")) && bytes.Contains(line, []byte("groups="+r.QualifiedGroup())) &&
				bytes.Contains(line, []byte("resources="+r.PluralName())) {
				return true
			}
		}
		return false
	}), nil
}
