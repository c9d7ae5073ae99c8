package golang

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"

	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/consistency"
	"github.com/operon-dev/operon/plugins/golang/internal/groupversion"
	"github.com/operon-dev/operon/plugins/golang/internal/libraries"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
	"github.com/operon-dev/operon/plugins/golang/internal/modules"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/golang/internal/specs"
	"github.com/operon-dev/operon/plugins/golang/internal/suites"
	"github.com/operon-dev/operon/plugins/internal/fields"
)

// createAPI plans the types of r if it has an API, its controllers, and the wiring of both.
func createAPI(ctx context.Context, e plugin.Event, library libraries.Values, p *scaffold.Plan) error {
	c, r := e.Project, *e.Resource
	if isWired(e) {
		if err := manager.Controllers(c, r).CheckPlace(p); err != nil {
			return err
		}
	}
	if err := modules.CheckAPI(c, r, p); err != nil {
		return err
	}
	changed, err := recordFeatures(e)
	if err != nil {
		return err
	}
	if err := fields.Record(e); err != nil {
		return err
	}
	if err := c.CheckOperand(r); err != nil {
		return err
	}
	recorded, err := source.RecordedProject(p)
	if err != nil {
		return err
	}
	if err := consistency.Resource(c, recorded, r, p); err != nil {
		return err
	}
	data, err := valuesOf(e, library, p)
	if err != nil {
		return err
	}
	before := recorded.Recorded(r)
	if r.API != nil {
		if err := createTypes(e, before, p, data); err != nil {
			return err
		}
	}
	if data.Registrar, err = groupversion.Registrar(c, r, p); err != nil {
		return err
	}
	if err := createControllers(e, before, changed, p, data); err != nil {
		return err
	}
	if err := wire(manager.Controllers(c, r), !data.Unwired, p); err != nil {
		return err
	}
	usesAPI := r.InClientScheme() || !c.AllFeatures(r).IsZero() || data.usesCore()
	if err := planModules(ctx, e, usesAPI, p); err != nil || !r.HasApplyConfigurations() {
		return err
	}
	return modules.RequireDirectly(structuredMergeDiff, p)
}

// createTypes plans the types of the event's resource, and what the project's own controller-gen calls
// need for them. before is the resource as PROJECT recorded it before this command.
func createTypes(e plugin.Event, before project.Resource, p *scaffold.Plan, data apiValues) error {
	c, r := e.Project, *e.Resource
	vars := map[string]string{"apidir": c.APIDir(r), "kind": r.Lower()}
	if err := planTypes(c, r, typesPart(r, before), p, vars, data); err != nil {
		return err
	}
	if err := controllerGen(e, p).Read(c.APIDir(r), r, "crd", "object", request.ApplyConfigurations); err != nil {
		return err
	}
	return planApply(e, r, data.Values, p)
}

// createControllers plans the controllers of the event's resource. changed has the names of those that
// gain features.
func createControllers(e plugin.Event, before project.Resource, changed []string, p *scaffold.Plan, data apiValues) error {
	c, r := e.Project, *e.Resource
	if len(r.ControllerNames()) > 0 {
		if err := controllerGen(e, p).Read(c.ControllerDir(r), r, "rbac"); err != nil {
			return err
		}
	}
	for _, name := range r.ControllerNames() {
		part := controllerPart(r, before, name)
		part.edited = slices.Contains(changed, name)
		values := data.forController(c, r, name)
		var err error
		if values.Reports, err = reports(c, r, name, p); err != nil {
			return err
		}
		if err := planController(c, r, part, p, values); err != nil {
			return err
		}
	}
	return nil
}

// planModules plans the modules that the new code needs, with k8s.io/api if it uses that. It omits
// the modules for specs if the code has none.
func planModules(ctx context.Context, e plugin.Event, usesAPI bool, p *scaffold.Plan) error {
	needed := modules.Base
	if usesAPI {
		needed = modules.WithAPI
	}
	needed = slices.DeleteFunc(slices.Clone(needed), func(module string) bool {
		if module != specs.Ginkgo && module != specs.Gomega {
			return false
		}
		return !slices.ContainsFunc(p.Changes(), func(c scaffold.Change) bool { return bytes.Contains(c.After, []byte(strconv.Quote(module))) })
	})
	return modules.Plan(ctx, e, needed, p)
}

// planController plans a controller of r with its tests, the suite that all
// controllers of the package share, and the helpers that these import.
func planController(c *project.Config, r project.Resource, controller part, p *scaffold.Plan, data apiValues) error {
	file := project.ControllerFile(controller.controller)
	vars := map[string]string{"controllerdir": c.ControllerDir(r), "controller": file}
	suite, err := suites.Find(suites.ForControllers(c, r, data.outputs), c.ControllerDir(r), data.Package, p)
	if err != nil {
		return err
	}
	controller.suite = suite
	if suite.IsOwn {
		if err := tree(p, "suite", vars, data, share(p, "BeforeSuite", &suite.File)); err != nil {
			return err
		}
	}
	if r.HasExternalTypes() {
		if err := planExternalObject(c, r, p); err != nil {
			return err
		}
		if err := tree(p, "external", vars, data, controller.seed(p)); err != nil {
			return err
		}
	} else if err := planOwnController(c.ControllerDir(r), controller, p, data); err != nil {
		return err
	}
	if err := planHelpers(c, data, p, suite.File, c.ControllerDir(r)+"/"+file+"_controller_test.go"); err != nil {
		return err
	}
	if err := suite.Register(c, r, data.Unwired, p); err != nil {
		return err
	}
	if err := planFeatures(c, r, controller.controller, suite, p, data); err != nil || data.Unwired {
		return err
	}
	return suite.Complete(p)
}

// planHelpers plans the helpers of tests if one of the files imports them. Files of another tool may
// not.
func planHelpers(c *project.Config, data apiValues, p *scaffold.Plan, files ...string) error {
	for _, name := range files {
		if name == "" {
			continue
		}
		src, err := p.Read(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Contains(src, []byte(strconv.Quote(c.Repo+"/test/utils"))) {
			continue
		}
		if err := tree(p, "fixtures", nil, initValues{Values: data.Values, Project: c, Header: data.Header}, seedMissing(p)); err != nil {
			return err
		}
	}
	return nil
}
