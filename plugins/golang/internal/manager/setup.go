package manager

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Setup is the code that a resource needs in the manager's program.
type Setup struct {
	c       *project.Config
	r       project.Resource
	wirings func(*project.Config, project.Resource, managerPackage) []wiring              // besides the registration of the types
	program func(managerPackage, *project.Config, *scaffold.Plan) (managerPackage, error) // that gets the code
}

// Controllers registers the types of r with the manager's scheme, and sets up its controllers.
func Controllers(c *project.Config, r project.Resource) Setup { return Setup{c, r, setUpAll, itself} }

// Webhooks registers the types of r with the manager's scheme, and makes the manager serve its webhooks.
func Webhooks(c *project.Config, r project.Resource) Setup {
	return Setup{c, r, serveWebhooks, managerPackage.webhookProgram}
}

// CheckPlace returns an error with the missing lines if there is no main package that can get the
// code. It runs before anything is planned.
func (s Setup) CheckPlace(p *scaffold.Plan) error {
	_, err := p.Read(s.c.MainFile())
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if p.Seeded(s.c.MainFile()) { // a replay, and the user deleted the file
		return nil
	}
	if m, err := readPackage(s.c, p); err != nil || len(m.files) > 0 {
		return err
	}
	return missing(s.c, fmt.Sprintf("register %s %s with the manager", s.r.Article(), s.r.Kind), s.usualLines(), p)
}

// Add adds the code, except for parts that exist in any form in any file.
func (s Setup) Add(p *scaffold.Plan) error {
	m, all, err := s.in(p)
	if err != nil {
		return err
	}
	return m.wireAll(s.c, all, p)
}

// Warn warns about the code that Add would add.
func (s Setup) Warn(p *scaffold.Plan) error {
	m, all, err := s.in(p)
	if err == nil {
		m.warnUnwired(all, p)
	}
	return err
}

// in returns the manager's package, and the code for it.
func (s Setup) in(p *scaffold.Plan) (managerPackage, []wiring, error) {
	m, err := readPackage(s.c, p)
	if err != nil {
		return m, nil, err
	}
	if m, err = s.program(m, s.c, p); err != nil {
		return m, nil, err
	}
	all, err := m.registrations(s.c, s.r, p)
	return m, append(all, s.wirings(s.c, s.r, m)...), err
}

func itself(m managerPackage, _ *project.Config, _ *scaffold.Plan) (managerPackage, error) {
	return m, nil
}

// usualLines returns the code for a program with the usual names.
func (s Setup) usualLines() string {
	lines := ""
	if !s.r.InClientScheme() {
		lines = registration(s.c, s.r, managerPackage{}, "AddToScheme").usual
	}
	for _, w := range s.wirings(s.c, s.r, managerPackage{}) {
		lines = joinLines(lines, w.usual)
	}
	return lines
}
