package golang

import (
	"context"
	"fmt"
	"path"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// certificatesFile is the package with which the manager makes its certificates.
const certificatesFile = "internal/certificates/certificates.go"

func certificatesPath(c *project.Config) string { return path.Join(c.Repo, path.Dir(certificatesFile)) }

// setupCertificates sets up the certificates of the webhook server.
const setupCertificates = `if err := %s.Manage(%s); err != nil {
%s
}`

func certificateSetupLines(n setupNames) string {
	return fmt.Sprintf(setupCertificates, n.local, n.manager, indentLines(n.fails("cannot set up the certificates of the webhooks")))
}

// certificateLines returns the lines that manageCertificates adds, for hints.
func certificateLines(c *project.Config) string {
	if c.WebhookCerts() != project.SelfCerts {
		return ""
	}
	return fmt.Sprintf("import %q\n", certificatesPath(c)) + withWebhooks("os", certificateSetupLines(usualNames("certificates"))) + "\n"
}

// manageCertificates makes the manager make its certificates. Every command adds the code in the
// same place.
func manageCertificates(c *project.Config, m mainPackage) wiring {
	code := setupCode{path: certificatesPath(c), after: "StartedChecker", webhook: true, text: certificateSetupLines}
	return wiring{done: func(f *goedit.File) bool { return f.Uses(code.path, "Manage") }, add: m.addSetup(code)}
}

// certificateValues are the values for the templates of golang/certificates.
type certificateValues struct {
	Project *project.Config
	Header  string
	Objects project.CallingObjects
}

// planCertificates plans the package with which the manager makes its certificates, and the
// modules that it needs.
func planCertificates(e plugin.Event, p *scaffold.Plan) error {
	c := e.Project
	if c.WebhookCerts() != project.SelfCerts {
		return nil
	}
	headerText, err := header.Read(e, p)
	if err != nil {
		return err
	}
	data := certificateValues{Project: c, Header: headerText, Objects: c.CallingObjects()}
	if err := tree("certificates", nil, data, seedNew(p)); err != nil {
		return err
	}
	return modules.AddCertificates(c.Repo, p)
}

// changeCertificates adds the code with which the manager makes its certificates, or removes
// it. In a project without webhooks there is no such code.
func changeCertificates(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	c := e.Project
	if e.Before.WebhookCerts() == c.WebhookCerts() || !c.HasWebhooks() {
		return nil
	}
	m, err := readMain(c, p)
	if err != nil {
		return err
	}
	if c.WebhookCerts() != project.SelfCerts {
		if err := m.dropCertificates(c, p); err != nil || p.Exists(certificatesFile) {
			return err
		}
		return modules.DropCertificates(ctx, e, p)
	}
	if len(m.files) == 0 {
		return missingMain(c, "set up the certificates of the webhooks", certificateLines(c), p)
	}
	if err := m.wire(manageCertificates(c, m), p); err != nil {
		return &fault.Error{Code: fault.Code(err), Err: err,
			Hint: "add these lines by hand where they belong, then repeat the command:\n" + certificateLines(c)}
	}
	return planCertificates(e, p)
}

// dropCertificates removes the setup of the certificates and its package.
func (m mainPackage) dropCertificates(c *project.Config, p *scaffold.Plan) error {
	certificates := certificatesPath(c)
	for _, s := range m.files {
		if !s.Parsed.Uses(certificates, "Manage") {
			continue
		}
		err := source.Edit(p, s.Name, func(f *goedit.File) error {
			fn, _ := f.Assigned(makeManager...)
			if err := f.DropCall(fn, f.Import("", certificates)+".Manage"); err != nil {
				return err
			}
			return f.DropImport(certificates)
		})
		if err != nil {
			return err
		}
	}
	return p.Discard(map[string][]byte{certificatesFile: nil})
}
