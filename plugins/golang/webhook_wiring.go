package golang

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// setupWebhook sets up webhooks in the same form as kubebuilder. The webhook server does
// not start without a certificate, so the variable lets the manager run on a
// workstation.
const setupWebhook = `if %[1]s.Getenv("ENABLE_WEBHOOKS") != "false" {
	if err := %[2]s.%[3]s(%[4]s); err != nil {
		%[5]s.Error(err, "cannot set up the webhooks", "webhook", %[6]q)
		%[1]s.Exit(1)
	}
}`

// checkWebhooks makes the manager ready only when its webhook server answers.
const checkWebhooks = `if %[1]s.Getenv("ENABLE_WEBHOOKS") != "false" {
	// The API server does not call a pod that is not ready.
	if err := %[2]s.AddReadyzCheck("webhooks", %[2]s.GetWebhookServer().StartedChecker()); err != nil {
		%[3]s.Error(err, "cannot add the readiness check of the webhooks")
		%[1]s.Exit(1)
	}
}`

// webhookLines returns the lines that wireWebhook adds, for hints.
func webhookLines(c *project.Config, r project.Resource) string {
	lines := fmt.Sprintf("import %s %q\n", c.WebhookAlias(r), c.WebhookPath(r)) +
		fmt.Sprintf(checkWebhooks, "os", "mgr", "setupLog") + "\n" +
		certificateLines(c) +
		fmt.Sprintf(setupWebhook, "os", c.WebhookAlias(r), r.WebhookSetup(), "mgr", "setupLog", r.Kind)
	r.Controller, r.Controllers = false, nil
	return strings.TrimPrefix(mainLines(c, r)+"\n"+lines, "\n")
}

// wireWebhook makes the manager serve the webhooks of r, and registers their types.
func wireWebhook(c *project.Config, r project.Resource, p *scaffold.Plan) error {
	m, err := readMain(c, p)
	if err != nil {
		return err
	}
	return m.wireKind(c, r, webhookWirings(c, r, m), webhookLines(c, r), p)
}

// webhookWirings returns what the main package needs for the webhooks of r.
func webhookWirings(c *project.Config, r project.Resource, m mainPackage) []wiring {
	all := []wiring{readyWebhooks(m)}
	if c.WebhookCerts() == project.SelfCerts {
		all = append(all, manageCertificates(c, m))
	}
	return append(all, serveWebhook(c, r, m))
}

// readyWebhooks adds the readiness check of the webhook server.
func readyWebhooks(m mainPackage) wiring {
	code := setupCode{text: func(n setupNames) string { return fmt.Sprintf(checkWebhooks, n.os, n.manager, n.logger) }}
	return wiring{done: func(f *goedit.File) bool { return f.Mentions("StartedChecker") }, add: m.addSetup(code)}
}

// serveWebhook serves the webhooks of r with the manager.
func serveWebhook(c *project.Config, r project.Resource, m mainPackage) wiring {
	code := setupCode{alias: c.WebhookAlias(r), path: c.WebhookPath(r), text: func(n setupNames) string {
		return fmt.Sprintf(setupWebhook, n.os, n.local, r.WebhookSetup(), n.manager, n.logger, r.Kind)
	}}
	return wiring{done: func(f *goedit.File) bool { return f.Uses(code.path, r.WebhookSetup()) }, add: m.addSetup(code)}
}

// planWebhookSuite plans the suite that all webhooks of the package share, its helpers
// and, for an external kind, a test object.
func planWebhookSuite(c *project.Config, r project.Resource, p *scaffold.Plan, vars map[string]string, data webhookValues) error {
	if r.HasExternalTypes() {
		if err := planExternalObject(c, r, p); err != nil {
			return err
		}
	}
	var suite string
	if err := tree("webhooksuite", vars, data, share(p, "BeforeSuite", &suite)); err != nil {
		return err
	}
	if err := tree("fixtures", nil, initValues{Project: c, Header: data.Header}, seedMissing(p)); err != nil {
		return err
	}
	spokes, err := conversionSpokes(c, r)
	if err != nil {
		return err
	}
	for _, version := range append(spokes, r) {
		if err := wireSuite(c, version, suite, p); err != nil {
			return err
		}
	}
	return serveInSuite(r, suite, p)
}

// serveInSuite makes the manager of a suite serve the webhooks of r.
func serveInSuite(r project.Resource, suite string, p *scaffold.Plan) error {
	return source.Edit(p, suite, suiteWebhookEdit(r))
}

// suiteWebhookEdit returns an edit that makes a suite serve the webhooks of r.
func suiteWebhookEdit(r project.Resource) func(*goedit.File) error {
	return func(f *goedit.File) error {
		if f.Mentions(r.WebhookSetup()) {
			return nil
		}
		anchors := []goedit.Anchor{goedit.Marker("webhook"), goedit.BeforeCall("BeforeSuite", "mgr.Start")}
		manager, lines := "mgr", "err = %s(%s)\nExpect(err).NotTo(HaveOccurred())"
		if at := f.ScopeAt(anchors...); at != nil {
			if name := at.Assigned(makeManager...); name != "" {
				manager = name
			}
			if !at.Variable("err") {
				lines = "Expect(%s(%s)).To(Succeed())"
			}
		}
		return f.Insert(fmt.Sprintf(lines, r.WebhookSetup(), manager), anchors...)
	}
}
