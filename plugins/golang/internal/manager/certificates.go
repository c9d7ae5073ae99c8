package manager

import (
	"fmt"
	"path"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// CertificatesFile is the file of the package that creates the manager's certificates.
const CertificatesFile = "internal/certificates/certificates.go"

func certificatesPath(c *project.Config) string { return path.Join(c.Repo, path.Dir(CertificatesFile)) }

// setupCertificates sets up the certificates of the webhook server.
const setupCertificates = `if err := %s.Manage(%s); err != nil {
%s
}`

func certificateSetupLines(n setupNames) string {
	return fmt.Sprintf(setupCertificates, n.local, n.manager, indentLines(n.fails("cannot set up the certificates of the webhooks")))
}

// manageCertificates makes the manager create its certificates. Every command adds the code in the
// same place.
func manageCertificates(c *project.Config, m managerPackage) wiring {
	code := setupCode{path: certificatesPath(c), after: "StartedChecker", webhook: true, text: certificateSetupLines}
	return wiring{
		marker: "builder",
		usual:  fmt.Sprintf("import %q\n", code.path) + withWebhooks("os", certificateSetupLines(usualNames("certificates"))),
		done:   func(f *goedit.File) bool { return f.Uses(code.path, "Manage") },
		add:    m.addSetup(code),
	}
}

// ChangeCertificates makes the manager create the certificates of its webhooks, or not, as PROJECT
// says. It also discards the package for it that nothing uses.
func ChangeCertificates(c *project.Config, p *scaffold.Plan) error {
	m, err := readPackage(c, p)
	if err != nil {
		return err
	}
	if c.WebhookCerts() != project.SelfCerts {
		return m.dropCertificates(c, p)
	}
	w := manageCertificates(c, m)
	if len(m.files) == 0 {
		return missing(c, "set up the certificates of the webhooks", w.usual, p)
	}
	if err := m.wire(w, p); err != nil {
		return &fault.Error{Code: fault.Code(err), Err: err, Hint: "add these lines by hand where they belong, then repeat the command:\n" + w.usual}
	}
	return nil
}

// dropCertificates removes the setup of the certificates and its package.
func (m managerPackage) dropCertificates(c *project.Config, p *scaffold.Plan) error {
	certificates := certificatesPath(c)
	for _, s := range m.files {
		if !s.Parsed.Uses(certificates, "Manage") {
			continue
		}
		err := source.Edit(p, s.Name, func(f *goedit.File) error {
			fn, _ := f.Assigned(source.MakeManager...)
			if err := f.DropCall(fn, f.Import("", certificates)+".Manage"); err != nil {
				return err
			}
			return f.DropImport(certificates)
		})
		if err != nil {
			return err
		}
	}
	return p.Discard(map[string][]byte{CertificatesFile: nil})
}
