package golang

import (
	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// planWebhookFile plans the file with the setup function, which stays where the
// user has it, and returns that file.
func planWebhookFile(c *project.Config, r project.Resource, p *scaffold.Plan, vars map[string]string, data webhookValues) (string, error) {
	held, err := heldWebhooks(r, p)
	if err != nil {
		return "", err
	}
	if err := checkLegacy(c, r, p); err != nil {
		return "", err
	}
	setup := part{name: r.WebhookSetup(), held: held != nil, hint: "rename what is there"}
	file := setupFile(c, r)
	disk, base, err := p.Before(file)
	if err != nil {
		return "", err
	}
	there, err := source.Declaring(c.WebhookDir(r), setup.name, p)
	if err != nil {
		return "", err
	}
	again := p.Seeded(project.MainFile) || p.Forced()
	if known := there != "" || disk != nil && (base != nil || setup.held); !known || again {
		if err := tree("webhook", vars, data, setup.seed(p)); err != nil {
			return "", err
		}
	}
	if there, err = source.Declaring(c.WebhookDir(r), setup.name, p); there != "" {
		file = there
	}
	return file, err
}

// setupFile returns the file to which operon writes the setup function.
func setupFile(c *project.Config, r project.Resource) string {
	return c.WebhookDir(r) + "/" + r.Lower() + "_webhook.go"
}

// checkLegacy refuses a kind whose webhooks are methods of its type, as tools of
// this layout once wrote them: controller-runtime no longer serves those.
func checkLegacy(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	if r.HasExternalTypes() {
		return nil
	}
	dir := c.APIDir(r)
	file, err := source.Find(dir, p, func(f *goedit.File) bool { return f.HasFunc(r.Kind + ".SetupWebhookWithManager") })
	if file == "" || err != nil {
		return err
	}
	return fault.Failed("move their code out of "+file+", delete the methods, then run the command again",
		"%s has the webhooks of %s as methods of the type, which controller-runtime no longer supports", file, r.Kind)
}

// heldWebhooks returns the webhooks of r that PROJECT recorded before this
// command, or nil.
func heldWebhooks(r project.Resource, p *scaffold.Plan) (*project.Webhooks, error) {
	before, err := recorded(p)
	if before == nil || err != nil {
		return nil, err
	}
	for _, old := range before.Resources {
		if old.SameVersion(r) {
			return old.Webhooks, nil
		}
	}
	return nil, nil
}
