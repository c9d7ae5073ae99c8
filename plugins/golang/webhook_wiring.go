package golang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// setupWebhook sets up webhooks in the same form as kubebuilder.
const setupWebhook = `if err := %s.%s(%s); err != nil {
%s
}`

// checkWebhooks makes the manager ready only when its webhook server answers.
const checkWebhooks = `// The API server does not call a pod that is not ready.
if err := %[1]s.AddReadyzCheck("webhooks", %[1]s.GetWebhookServer().StartedChecker()); err != nil {
%[2]s
}`

func webhookSetupLines(r project.Resource, n setupNames) string {
	fails := n.fails("cannot set up the webhooks", "webhook", r.Kind)
	return fmt.Sprintf(setupWebhook, n.local, r.WebhookSetup(), n.manager, indentLines(fails))
}

func webhookCheckLines(n setupNames) string {
	return fmt.Sprintf(checkWebhooks, n.manager, indentLines(n.fails("cannot add the readiness check of the webhooks")))
}

// webhookLines returns the lines that wireWebhook adds, for hints.
func webhookLines(c *project.Config, r project.Resource) string {
	name := cmp.Or(c.WebhookAlias(r), c.WebhookPackage(r))
	lines := fmt.Sprintf("import %s %q\n", name, c.WebhookPath(r)) +
		withWebhooks("os", webhookCheckLines(usualNames(""))) + "\n" +
		certificateLines(c) +
		withWebhooks("os", webhookSetupLines(r, usualNames(name)))
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
	var all []wiring
	if !m.servesOwnWay() {
		all = append(all, readyWebhooks(m))
	}
	if c.WebhookCerts() == project.SelfCerts {
		all = append(all, manageCertificates(c, m))
	}
	return append(all, serveWebhook(c, r, m))
}

// servesOwnWay reports whether the package sets up webhooks in a way in which a readiness check can
// do harm: it served webhooks before operon came, or it sets them up in a goroutine, after the
// manager has started and accepts no checks.
func (m mainPackage) servesOwnWay() bool {
	return slices.ContainsFunc(m.files, func(s source.File) bool {
		if m.recorded && s.Parsed.Has(likeWebhooks) {
			return true
		}
		at := s.Parsed.ScopeAt(builderAnchors(s.Parsed)...)
		return at != nil && at.InGoroutine()
	})
}

// likeWebhooks is the place after the last setup of webhooks.
var likeWebhooks = goedit.AfterLike("a call that sets up webhooks", func(call string) bool {
	name := call[strings.LastIndexByte(call, '.')+1:]
	return strings.HasPrefix(name, "Setup") && strings.Contains(strings.ToLower(call), "webhook")
})

// readyWebhooks adds the readiness check of the webhook server.
func readyWebhooks(m mainPackage) wiring {
	code := setupCode{webhook: true, text: webhookCheckLines}
	return wiring{done: func(f *goedit.File) bool { return f.Mentions("StartedChecker") }, add: m.addSetup(code)}
}

// serveWebhook serves the webhooks of r with the manager. In a repository that operon did not start,
// its setup follows that of other webhooks, which may depend on a condition.
func serveWebhook(c *project.Config, r project.Resource, m mainPackage) wiring {
	code := setupCode{alias: c.WebhookAlias(r), path: c.WebhookPath(r), webhook: true, text: func(n setupNames) string {
		return webhookSetupLines(r, n)
	}}
	w := wiring{done: func(f *goedit.File) bool { return f.Uses(code.path, r.WebhookSetup()) }, add: m.addSetup(code)}
	if m.recorded {
		like := code
		like.webhook = false
		w.add = slices.Insert(w.add, 0, func(f *goedit.File) error { return m.insertSetup(f, like, []goedit.Anchor{likeWebhooks}) })
	}
	return w
}

// planWebhookSuite plans the suite that all webhooks of the package share, its helpers
// and, for an external kind, a test object.
func planWebhookSuite(c *project.Config, r project.Resource, suite testSuite, p *scaffold.Plan, vars map[string]string, data webhookValues) error {
	if r.HasExternalTypes() {
		if err := planExternalObject(c, r, p); err != nil {
			return err
		}
	}
	if suite.file == webhookSuite(c, r).file {
		if err := tree("webhooksuite", vars, data, share(p, "BeforeSuite", &suite.file)); err != nil {
			return err
		}
	}
	if suite.untested {
		return nil
	}
	if err := tree("fixtures", nil, initValues{Values: data.Values, Project: c, Header: data.Header}, seedMissing(p)); err != nil {
		return err
	}
	if suite.file == "" {
		return nil
	}
	spokes, err := conversionSpokes(c, r)
	if err != nil {
		return err
	}
	for _, version := range append(spokes, r) {
		if err := wireSuite(c, version, suite, data.Unwired, p); err != nil {
			return err
		}
	}
	if err := editSuite(suite, suiteWebhookEdit(r), data.Unwired, p); err != nil || data.Unwired {
		return err
	}
	return completeSuite(suite, p)
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
