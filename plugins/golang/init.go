package golang

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/pins"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/header"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"golang.org/x/mod/modfile"
)

// initValues are the values for the templates of golang/init and golang/fixtures.
type initValues struct {
	libraries.Values
	Project          *project.Config
	Header           string // the start of each Go file
	LeaderElectionID string
	Pins             pinned
}

// pinned are the versions of package pins that templates use. go.mod.tmpl contains
// its versions literally, because go.sum contains their hashes.
type pinned struct {
	Go, ControllerTools, Kubernetes, SetupEnvtest, Kustomize, GolangciLint, Kind, CertManager, Distroless string
}

func allPins() pinned {
	return pinned{
		Go:              pins.Go,
		ControllerTools: pins.ControllerTools,
		Kubernetes:      pins.Kubernetes,
		SetupEnvtest:    pins.SetupEnvtest,
		Kustomize:       pins.Kustomize,
		GolangciLint:    pins.GolangciLint,
		Kind:            pins.Kind,
		CertManager:     pins.CertManager,
		Distroless:      pins.Distroless,
	}
}

// initProject plans the initial files of a project and records the module path.
func initProject(ctx context.Context, e plugin.Event, library libraries.Values, p *scaffold.Plan) error {
	repo, err := modulePath(e, p)
	if err != nil {
		return err
	}
	e.Project.Repo = repo
	if err := header.Plan(e, p); err != nil {
		return err
	}
	headerText, err := header.Read(e, p)
	if err != nil {
		return err
	}
	data := initValues{Values: library, Project: e.Project, Header: headerText, LeaderElectionID: leaderElectionID(e.Project), Pins: allPins()}
	if err := tree(p, "init", nil, data, seedNew(p)); err != nil {
		return err
	}
	if err := tree(p, "fixtures", nil, data, p.Seed); err != nil {
		return err
	}
	return modules.Plan(ctx, e, modules.WithAPI, p)
}

// seedNew is a sink that keeps existing files of the repository. It leaves go.mod and go.sum
// to package modules, because templates never replace them.
func seedNew(p *scaffold.Plan) render.Sink {
	return func(name string, mode fs.FileMode, content []byte) error {
		if name == modules.GoMod || name == modules.GoSum {
			return nil
		}
		return plugin.SeedInitFile(p, name, mode, content)
	}
}

// modulePath determines the project's module path: from PROJECT, --repo, go.mod or the folder,
// in this order. An existing go.mod must agree with --repo, because existing code imports its
// path.
func modulePath(e plugin.Event, p *scaffold.Plan) (string, error) {
	wanted, recorded := e.String("repo"), e.Project.Repo
	if recorded != "" {
		if wanted != "" && wanted != recorded {
			return "", fault.Usage("leave out --repo", "already initialized with --repo %s", recorded)
		}
		return recorded, nil
	}
	goMod, err := p.Read(modules.GoMod)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	have := modfile.ModulePath(goMod)
	switch {
	case wanted == "":
		wanted, err = project.DefaultRepo(goMod, e.Dir)
	case have != "" && have != wanted:
		err = fault.Usage("leave out --repo, or change the module path in go.mod first",
			"--repo %s differs from the module path %s in go.mod", wanted, have)
	default:
		err = project.CheckRepo(wanted)
	}
	if err != nil {
		return "", err
	}
	return wanted, checkNotRequired(wanted)
}

// checkNotRequired rejects the path of a module that the project depends on.
func checkNotRequired(repo string) error {
	_, f, err := modules.Pinned(repo)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(f.Require, func(r *modfile.Require) bool { return r.Mod.Path == repo }) {
		return fault.Usage("use another path: --repo example.com/name",
			"the project requires another module with the path %s", repo)
	}
	return nil
}

// leaderElectionID returns the name of the Lease that replicas of the manager compete for. It
// must be unique among operators in a namespace and must never change, so it is derived from
// PROJECT.
func leaderElectionID(c *project.Config) string {
	h := fnv.New32a()
	h.Write([]byte(c.Repo)) // never fails
	id := fmt.Sprintf("%08x", h.Sum32())
	if c.Domain != "" {
		id += "." + c.Domain
	}
	return id
}
