package golang

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/internal/scaffold/render"
	"github.com/operon-dev/operon/plugins/golang/internal/manager"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
	"github.com/operon-dev/operon/plugins/golang/internal/suites"
	"github.com/operon-dev/operon/plugins/internal/fields"
)

// featureOptions returns the flags for controller features.
func featureOptions() []plugin.Option {
	events := []plugin.EventType{plugin.CreateAPI}
	kinds := func(c *project.Config) []string { return c.TargetNames() }
	return []plugin.Option{
		{Name: "owns", Default: []string{}, Offer: kinds, Events: events,
			Usage: "kinds of objects that the controller creates, as group/version/Kind, such as apps/v1/StatefulSet,core/v1/ConfigMap"},
		{Name: "watches", Default: []string{}, Offer: kinds, Events: events,
			Usage: "kinds whose events trigger reconciliation of related objects, as group/version/Kind"},
		{Name: "label", Default: []string{}, Events: events,
			Usage: "reconcile only objects with this label, as key=value"},
		{Name: fields.Option, Default: []string{}, Verbatim: true, Events: events,
			Usage: "add a field to the types, as NAME:TYPE[?][,OPTION...], such as guns:int32,min=1 or status.ready:bool; see docs/fields.md"},
		{Name: "finalizer", Default: false, Events: events,
			Usage: "add a finalizer, which cleans up before an object is deleted"},
	}
}

// requestedFeatures returns the features that the options of e request.
func requestedFeatures(e plugin.Event) project.Features {
	return project.Features{
		Owns: e.Strings("owns"), Watches: e.Strings("watches"), Labels: e.Strings("label"), Finalizer: e.Bool("finalizer"),
	}
}

// recordFeatures records the requested features for the event's controllers. It returns the
// names of the controllers that gained features.
func recordFeatures(e plugin.Event) ([]string, error) {
	c, r, requested := e.Project, *e.Resource, requestedFeatures(e)
	if requested.IsZero() {
		return nil, nil
	}
	if len(r.ControllerNames()) == 0 {
		return nil, fault.Usage("leave out --controller=false", "--owns, --watches, --label and --finalizer are for a controller")
	}
	var changed []string
	for _, name := range r.ControllerNames() {
		all, err := c.AddFeatures(r, name, requested)
		if err != nil {
			return nil, err
		}
		if !all.Equal(c.Features(r, name)) {
			changed = append(changed, name)
			c.PutFeatures(r, name, all)
		}
	}
	return changed, nil
}

// featurePlanner plans the features of a controller. Each feature has its own files with the
// permissions that it needs. In the controller, which belongs to the user, only the calls are
// added.
type featurePlanner struct {
	*scaffold.Plan
	config  *project.Config
	of      project.Resource
	name    string // of the controller
	suite   suites.Suite
	data    featureValues
	targets targets
	project.Features
}

// targets are the kinds that a controller owns or watches.
type targets struct{ owned, watched []project.Resource }

// featureValues is the data of the feature templates.
type featureValues struct {
	apiValues
	Target        targetValues
	SameNamespace bool // the controller's kind and the target are namespaced
	CRDFiles      []string
	Labels        []label
	Finalizer     string // its name
	OwnKind       bool   // the project has the types of the controller's kind
}

type label struct{ Key, Value string }

// targetValues are the template values of an owned or watched kind.
type targetValues struct {
	Kind, Article, Var string
	File               string // the part of file names for the kind
	Alias, Path        string // how the types are imported
	Group, Plural      string
	RBACNamespace      string
	Namespaced         bool
	Sample             string // path of the sample from the root
}

// planFeatures plans the features that PROJECT records for the controller.
func planFeatures(c *project.Config, r project.Resource, name string, suite suites.Suite, p *scaffold.Plan, data apiValues) error {
	x := featurePlanner{Plan: p, config: c, of: r, name: name, suite: suite, Features: c.Features(r, name)}
	if data.Operand != nil && !isOwnController(c, r, name, p) {
		x.Features, data.Operand = c.RecordedFeatures(r, name), nil
	}
	if x.IsZero() {
		return nil
	}
	x.data = featureValues{apiValues: data, Finalizer: finalizerName(c, r, name), OwnKind: !r.HasExternalTypes()}
	for _, l := range x.Labels {
		key, value, _ := strings.Cut(l, "=")
		x.data.Labels = append(x.data.Labels, label{key, value})
	}
	var err error
	if x.targets.owned, err = x.findTargets("owns", x.Owns); err != nil {
		return err
	}
	if x.targets.watched, err = x.findTargets("watches", x.Watches); err != nil {
		return err
	}
	for _, plan := range []func() error{x.planShared, x.planTargets, x.planFiles, x.wire, x.checkFinalizer} {
		if err := plan(); err != nil {
			return err
		}
	}
	return nil
}

func (x featurePlanner) findTargets(flag string, names []string) ([]project.Resource, error) {
	var all []project.Resource
	for _, name := range names {
		t, err := x.config.Target(flag, name)
		if err != nil {
			return nil, fault.In(project.File, err)
		}
		all = append(all, t)
	}
	return all, nil
}

// finalizerName returns the name of a controller's finalizer: a domain that belongs to
// the project, and the name of the controller.
func finalizerName(c *project.Config, r project.Resource, name string) string {
	domain := r.QualifiedGroup()
	if r.HasExternalTypes() {
		domain = c.Domain
		if domain == "" {
			domain = c.ProjectName
		}
	}
	return domain + "/" + name
}

// planShared plans what the specs and controllers of the package share.
func (x featurePlanner) planShared() error {
	vars := map[string]string{"controllerdir": x.config.ControllerDir(x.of)}
	if !x.suite.Untested {
		fixtures := initValues{Values: x.data.Values, Project: x.config, Header: x.data.Header}
		if err := tree(x.Plan, "fixtures", nil, fixtures, seedMissing(x.Plan)); err != nil {
			return err
		}
	}
	if x.suite.Why == "" {
		if err := tree(x.Plan, "specs", vars, x.data, part{name: "runController", recorded: true}.seed(x.Plan)); err != nil {
			return err
		}
	}
	// The controller's tests declare it, unless another tool or the user wrote them.
	vars["controller"] = project.ControllerFile(x.name)
	reconciler := part{name: x.data.Private + "ReconcilerWith", recorded: true, suite: x.suite}
	if err := tree(x.Plan, "reconciler", vars, x.data, reconciler.seed(x.Plan)); err != nil {
		return err
	}
	if !slices.ContainsFunc(x.targets.owned, func(t project.Resource) bool { return !x.isOperand(t) }) {
		return nil
	}
	return tree(x.Plan, "own", vars, x.data, part{name: "own", recorded: true, hint: renameHint, suite: x.suite}.seed(x.Plan))
}

// planTargets registers the owned and watched kinds with the manager and the specs.
func (x featurePlanner) planTargets() error {
	for _, t := range slices.Concat(x.targets.owned, x.targets.watched) {
		if t.HasExternalTypes() && !x.isOperand(t) {
			if err := planExternalObject(x.config, t, x.Plan); err != nil {
				return err
			}
		}
		if t.InClientScheme() {
			continue
		}
		t.Controller, t.Controllers = false, nil // other events plan its controllers
		if err := wire(manager.Controllers(x.config, t), !x.data.Unwired, x.Plan); err != nil {
			return err
		}
		if err := x.suite.Register(x.config, t, x.data.Unwired, x.Plan); err != nil {
			return err
		}
	}
	return nil
}

// planFiles plans the files of each feature.
func (x featurePlanner) planFiles() error {
	var crds []string
	for _, r := range slices.Concat([]project.Resource{x.of}, x.targets.owned, x.targets.watched) {
		if file := joinArgs(x.config.ControllerDir(x.of), project.ExternalCRDPath(r)); r.External && !slices.Contains(crds, file) {
			crds = append(crds, file)
		}
	}
	x.data.CRDFiles = crds
	if x.Finalizer {
		if err := x.planPart("finalizer", "cleanUp", ""); err != nil {
			return err
		}
	}
	if len(x.Labels) > 0 {
		if err := x.planPart("label", "isSelected", ""); err != nil {
			return err
		}
	}
	for tree, kinds := range map[string][]project.Resource{"owned": x.targets.owned, "watched": x.targets.watched} {
		for _, t := range kinds {
			x.data.Target, x.data.SameNamespace = x.targetValues(t), x.data.Namespaced && x.config.IsNamespaced(t)
			dir := tree
			if tree == "owned" && x.isOperand(t) {
				dir = "operand"
			}
			if err := x.planPart(dir, methodPrefix[tree]+t.Kind, t.Lower()); err != nil {
				return err
			}
		}
	}
	return nil
}

// isOperand reports whether the controller deploys its operand with the owned kind t.
func (x featurePlanner) isOperand(t project.Resource) bool {
	return x.data.Operand != nil && t.IsOperandDeployment()
}

// methodPrefix maps features to the prefix of their methods.
var methodPrefix = map[string]string{"owned": "ensure", "watched": "requestsFor"}

// planPart plans the files of a feature, unless the user moved its method to another file.
func (x featurePlanner) planPart(dir, method, target string) error {
	vars := map[string]string{
		"controllerdir": x.config.ControllerDir(x.of), "controller": project.ControllerFile(x.name), "target": target,
	}
	var sink render.Sink = func(name string, mode fs.FileMode, content []byte) error {
		file, err := x.fileOf(method)
		if err != nil || file != "" && file != strings.Replace(name, "_test.go", ".go", 1) {
			return err
		}
		return x.Seed(name, mode, content)
	}
	return tree(x.Plan, dir, vars, x.data, x.suite.Sink(sink))
}

// fileOf returns the file that declares a method of the controller, or "".
func (x featurePlanner) fileOf(method string) (string, error) {
	return source.Declaring(x.config.ControllerDir(x.of), x.data.Reconciler+"."+method, x.Plan)
}

func (x featurePlanner) targetValues(t project.Resource) targetValues {
	v := targetValues{
		Kind: t.Kind, Article: t.Article(), Var: t.VarName(), File: t.Lower(), Alias: t.ImportAlias(), Path: x.config.APIPath(t),
		Group: t.QualifiedGroup(), Plural: t.PluralName(), Namespaced: x.config.IsNamespaced(t), Sample: x.config.SamplePath(t),
	}
	if k, ok := t.Builtin(); ok {
		v.Plural = k.Plural
	}
	if x.config.Namespaced && v.Namespaced {
		v.RBACNamespace = "namespace=" + x.config.Namespace() + ","
	}
	return v
}
