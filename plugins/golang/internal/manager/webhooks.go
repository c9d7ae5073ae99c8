package manager

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/goenv"
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
		if m.setsUpLike(s.Parsed) {
			return true
		}
		at := s.Parsed.ScopeAt(builderAnchors(s.Parsed)...)
		return at != nil && at.InGoroutine()
	})
}

// likeWebhooks are the places after the last setup of webhooks: by a function, or by their builder.
var likeWebhooks = []goedit.Anchor{
	goedit.AfterLike("a call that sets up webhooks", func(call string) bool {
		name := call[strings.LastIndexByte(call, '.')+1:]
		return strings.HasPrefix(name, "Setup") && strings.Contains(strings.ToLower(call), "webhook")
	}),
	goedit.AfterLike("a builder of webhooks", func(call string) bool {
		return strings.HasSuffix(call, ".NewWebhookManagedBy") || strings.HasSuffix(call, ".WebhookManagedBy")
	}),
}

// webhookProgram returns the package that gets new webhooks: m, or the manager of a program of its own, if that serves
// the webhooks of the repository and the program of m serves none.
func (m managerPackage) webhookProgram(c *project.Config, p *scaffold.Plan) (managerPackage, error) {
	files := source.NewReader(p)
	program, err := files.Program(c.Repo, path.Dir(m.name))
	sets := func(f *goedit.File) bool { return f.ScopeAt(likeWebhooks...) != nil }
	if err != nil || !m.recorded || program.Any(sets) {
		return m, err
	}
	names, err := source.ModuleFiles(p)
	if err != nil {
		return m, err
	}
	other := ""
	for _, name := range names {
		s, err := files.File(name)
		if err != nil || source.IsTest(name) || isSide(name) || s.Parsed == nil || !sets(s.Parsed) || !goenv.Builds(name, s.Src) {
			continue
		}
		in, err := files.Files(path.Dir(name))
		switch {
		case err != nil:
			return m, err
		case !makesManager(in):
		case s.Parsed.Package() == "main" && !source.Program(in).Any(func(f *goedit.File) bool { return f.HasFunc("main") }):
		case other != "" && path.Dir(other) != path.Dir(name):
			return m, nil // several: nothing tells which one
		default:
			other = name
		}
	}
	if other == "" {
		return m, nil
	}
	return readPackageOf(other, true, p)
}

// isSide reports whether a file is in a folder for tests or examples, whose programs do not run on clusters.
func isSide(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return slices.Contains([]string{"test", "tests", "e2e", "example", "examples", "sample", "samples", "hack"}, dir)
	})
}

// setsUpLike reports whether a file sets up webhooks where new ones belong, too: in a repository that operon did not
// start, or under a condition of its own.
func (m managerPackage) setsUpLike(f *goedit.File) bool {
	at := f.ScopeAt(likeWebhooks...)
	return at != nil && (m.recorded || !strings.Contains(at.Condition(), enableWebhooks) && at.Condition() != "" && m.base == nil)
}

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

// errNoWebhooks means that a file has no webhooks that show where new ones belong.
var errNoWebhooks = errors.New("the file sets up no webhooks in a way of its own")

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
	like := code
	like.webhook = false
	w.add = slices.Insert(w.add, 0, func(f *goedit.File) error {
		if !m.setsUpLike(f) {
			return errNoWebhooks
		}
		return m.insertSetup(f, like, likeWebhooks)
	})
	return w
}
