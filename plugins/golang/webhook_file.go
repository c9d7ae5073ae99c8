package golang

import (
	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// planWebhookFile plans the file with the setup function, unless the user moved the
// function to another file. It returns the name of the file.
func planWebhookFile(c *project.Config, r project.Resource, p *scaffold.Plan, vars map[string]string, data webhookValues) (string, error) {
	recorded, err := recordedWebhooks(r, p)
	if err != nil {
		return "", err
	}
	if err := checkLegacy(c, r, p); err != nil {
		return "", err
	}
	setup := part{name: r.WebhookSetup(), recorded: recorded, hint: renameHint}
	file := setupFile(c, r)
	disk, base, err := p.Before(file)
	if err != nil {
		return "", err
	}
	declaring, err := source.Declaring(c.WebhookDir(r), setup.name, p)
	if err != nil {
		return "", err
	}
	replay := p.Seeded(project.MainFile) || p.Forced()
	if exists := declaring != "" || disk != nil && (base != nil || setup.recorded); !exists || replay {
		if err := tree("webhook", vars, data, setup.seed(p)); err != nil {
			return "", err
		}
	}
	if declaring, err = source.Declaring(c.WebhookDir(r), setup.name, p); declaring != "" {
		file = declaring
	}
	return file, err
}

// setupFile returns the file to which operon writes the setup function.
func setupFile(c *project.Config, r project.Resource) string {
	return c.WebhookDir(r) + "/" + r.Lower() + "_webhook.go"
}

// checkLegacy rejects a kind whose webhooks are methods of its type, as early versions of
// kubebuilder wrote them. controller-runtime no longer supports them.
func checkLegacy(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if r.HasExternalTypes() {
		return nil
	}
	dir := c.APIDir(r)
	file, err := source.Find(dir, p, func(f *goedit.File) bool { return f.HasFunc(r.Kind + ".SetupWebhookWithManager") })
	if file == "" || err != nil {
		return err
	}
	return fault.Failed("move their code out of "+file+", delete the methods, then repeat the command",
		"%s has the webhooks of %s as methods of the type, which controller-runtime no longer supports", file, r.Kind)
}

// recordedWebhooks reports whether PROJECT recorded webhooks of r before this command.
func recordedWebhooks(r project.Resource, p *scaffold.Plan) (bool, error) {
	before, ok, err := recordedResource(r, p)
	return ok && before.Webhooks != nil, err
}
