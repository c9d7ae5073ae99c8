package suites

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// Register registers the types of r with client-go's scheme, which suites use. Without a suite there
// is nothing to do. If existing code is not edited, it warns about the lines that are missing.
func (s Suite) Register(c *project.Config, r project.Resource, unwired bool, p *scaffold.Plan) error {
	if s.File == "" || r.InClientScheme() {
		return nil
	}
	registrar, err := groupversion.Registrar(c, r, p)
	if err != nil || registrar == "" {
		return err // its package adds the types to client-go's scheme
	}
	return s.Edit(RegisterEdit(c, r, registrar), unwired, p)
}

// Edit edits a suite. unwired means that a suite which existed before this command is not edited.
func (s Suite) Edit(edit func(*goedit.File) error, unwired bool, p *scaffold.Plan) error {
	name := s.File
	if unwired && !s.IsNew {
		src, err := p.Read(name)
		if err != nil {
			return err
		}
		if lines := source.MissingLines(source.File{Name: name, Src: src}, nil, edit); lines != "" {
			source.WarnUnwired(name, lines, p)
		}
		return nil
	}
	if err := source.Edit(p, name, edit); err != nil {
		_, lines, found := strings.Cut(fault.HintOf(err), ":\n")
		if !found {
			return err
		}
		return &fault.Error{Code: fault.Code(err), Err: err, Hint: source.UnwiredHint + strings.TrimLeft(lines, "\n")}
	}
	return nil
}

// RegisterEdit returns an edit that makes a suite register the types of r. registrar is what their package has for
// that.
func RegisterEdit(c *project.Config, r project.Resource, registrar string) func(*goedit.File) error {
	return func(f *goedit.File) error {
		types := c.APIPath(r)
		if first, _, _ := strings.Cut(registrar, "."); f.Uses(types, "AddToScheme") || f.Uses(types, first) {
			return nil
		}
		anchors := []goedit.Anchor{
			goedit.Marker("scheme"), goedit.AfterCall("BeforeSuite", "AddToScheme"), goedit.BeforeCall("BeforeSuite", "testEnv.Start"),
		}
		at := f.ScopeAt(anchors...)
		scheme := ""
		if at != nil {
			scheme = at.Argument("AddToScheme") // the suite may have a scheme of its own
		}
		api := f.ImportAt(r.ImportAlias(), types, anchors...)
		if scheme == "" {
			scheme = f.ImportAt("", source.ClientScheme, anchors...) + ".Scheme"
		}
		// kubebuilder looks for exactly these lines.
		lines := "err = %s.%s(%s)\nExpect(err).NotTo(HaveOccurred())"
		if at != nil && !at.Variable("err") {
			lines = "Expect(%s.%s(%s)).To(Succeed())"
		}
		return f.Insert(fmt.Sprintf(lines, api, registrar, scheme), anchors...)
	}
}

// ServeEdit returns an edit that makes a suite serve the webhooks of r.
func ServeEdit(r project.Resource) func(*goedit.File) error {
	return func(f *goedit.File) error {
		if f.Mentions(r.WebhookSetup()) {
			return nil
		}
		anchors := []goedit.Anchor{goedit.Marker("webhook"), goedit.BeforeCall("BeforeSuite", "mgr.Start")}
		manager, lines := "mgr", "err = %s(%s)\nExpect(err).NotTo(HaveOccurred())"
		if at := f.ScopeAt(anchors...); at != nil {
			if name := at.Assigned(source.MakeManager...); name != "" {
				manager = name
			}
			if !at.Variable("err") {
				lines = "Expect(%s(%s)).To(Succeed())"
			}
		}
		return f.Insert(fmt.Sprintf(lines, r.WebhookSetup(), manager), anchors...)
	}
}

// Serve makes the manager of a suite serve the webhooks of r.
func Serve(r project.Resource, suite string, p *scaffold.Plan) error {
	return source.Edit(p, suite, ServeEdit(r))
}
