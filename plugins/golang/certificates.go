package golang

import (
	"context"

	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
)

// certificateValues are the values for the templates of golang/certificates.
type certificateValues struct {
	Project *project.Config
	Header  string
	Objects project.CallingObjects
}

// planCertificates plans the package that creates the manager's certificates, and the
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
	if err := tree(p, "certificates", nil, data, seedNew(p)); err != nil {
		return err
	}
	return modules.AddCertificates(c.Repo, p)
}

// changeCertificates adds the code that creates the manager's certificates, or removes
// it. In a project without webhooks there is no such code.
func changeCertificates(ctx context.Context, e plugin.Event, p *scaffold.Plan) error {
	c := e.Project
	if e.Before.WebhookCerts() == c.WebhookCerts() || !c.HasWebhooks() {
		return nil
	}
	if err := manager.ChangeCertificates(c, p); err != nil {
		return err
	}
	switch {
	case c.WebhookCerts() == project.SelfCerts:
		return planCertificates(e, p)
	case p.Exists(manager.CertificatesFile):
		return nil
	}
	return modules.DropCertificates(ctx, e, p)
}
