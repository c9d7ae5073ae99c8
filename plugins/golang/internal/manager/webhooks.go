package manager

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/project"
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

// serveWebhooks returns what the manager's package needs for the webhooks of r.
func serveWebhooks(c *project.Config, r project.Resource, m managerPackage) []wiring {
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
func (m managerPackage) servesOwnWay() bool {
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
func readyWebhooks(m managerPackage) wiring {
	code := setupCode{webhook: true, text: webhookCheckLines}
	return wiring{
		marker: "builder",
		usual:  withWebhooks("os", webhookCheckLines(usualNames(""))),
		done:   func(f *goedit.File) bool { return f.Mentions("StartedChecker") },
		add:    m.addSetup(code),
	}
}

// serveWebhook serves the webhooks of r with the manager. In a repository that operon did not start,
// its setup follows the setup of other webhooks, which may depend on a condition.
func serveWebhook(c *project.Config, r project.Resource, m managerPackage) wiring {
	code := setupCode{alias: c.WebhookAlias(r), path: c.WebhookPath(r), webhook: true, text: func(n setupNames) string {
		return webhookSetupLines(r, n)
	}}
	name := cmp.Or(c.WebhookAlias(r), c.WebhookPackage(r))
	w := wiring{
		marker: "builder",
		usual:  fmt.Sprintf("import %s %q\n", name, code.path) + withWebhooks("os", webhookSetupLines(r, usualNames(name))),
		done:   func(f *goedit.File) bool { return f.Uses(code.path, r.WebhookSetup()) },
		add:    m.addSetup(code),
	}
	if m.recorded {
		like := code
		like.webhook = false
		w.add = slices.Insert(w.add, 0, func(f *goedit.File) error { return m.insertSetup(f, like, []goedit.Anchor{likeWebhooks}) })
	}
	return w
}
