package golang

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/goedit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

const (
	builders   = source.ControllerRuntime + "/pkg/builder"
	handlers   = source.ControllerRuntime + "/pkg/handler"
	predicates = source.ControllerRuntime + "/pkg/predicate"
)

// errUnread is the error for a Reconcile that does not get its object.
var errUnread = errors.New("found no call that gets the object of the request")

// specMethod is the method for the user's code. Reconcile calls it and reports the result.
// Controllers of other tools do not have it.
const specMethod = "reconcileSpec"

// reportMethod is the method that reports a result in the object's status. Reconcile calls it
// in controllers that operon wrote for the project's own kinds, unless the user reports the
// result in another way.
const reportMethod = "reportReady"

// The lines that wire adds to a controller. $names stand for the names in its file.
const (
	getLines = `$var := &$types.$kind{}
if err := r.Get(ctx, req.NamespacedName, $var); err != nil {
	return ctrl.Result{}, client.IgnoreNotFound(err)
}`
	selectLines = `if !$r.isSelected($obj) {
	return $ctrl.Result{}, nil
}`
	finalizeLines = `if result, err := $r.finalize($ctx, $obj, $clean); err != nil || !result.IsZero() {
	return result, err
}`
	cleanUp         = `$r.cleanUp`
	reportedCleanUp = `func($ctx $context.Context, $var *$types.$kind) ($ctrl.Result, error) {
	return $r.` + reportMethod + `($ctx, $var, $r.cleanUp)
}`
	deletedLines = `if !$var.DeletionTimestamp.IsZero() {
	return $ctrl.Result{}, nil
}`
	ensureLines = `if err := $r.ensure$kind($ctx, $obj); err != nil {
	return $ctrl.Result{}, err
}`
	ownsCall    = `Owns(&$types.$kind{})`
	watchesCall = `Watches(&$types.$kind{}, $handler.EnqueueRequestsFromMapFunc($r.requestsFor$kind),
	$builder.WithPredicates($predicate.ResourceVersionChangedPredicate{}))`
	selectOption = `$predicate.NewPredicateFuncs($r.isSelected)`
)

// fillNames replaces names in lines. names are pairs of placeholder and replacement.
func fillNames(lines string, names ...string) string {
	return strings.NewReplacer(names...).Replace(lines)
}

// wire adds the calls of the features to the controller: kinds and the predicate to
// SetupWithManager, the steps before the user's code to Reconcile, and owned objects to
// specMethod. It does not add a call that exists in any form.
func (x featurePlanner) wire() error {
	for _, w := range []struct {
		method string
		edit   func(f *goedit.File, fn string) error
	}{{"SetupWithManager", x.wireSetup}, {"Reconcile", x.wireReconcile}, {specMethod, x.wireSpec}} {
		own := x.config.ReconcilerFile(x.of, x.name)
		name := own
		if !x.Seeded(own) { // otherwise the planned content must not depend on files of the user
			file, err := x.fileOf(w.method)
			if err != nil {
				return err
			}
			name = cmp.Or(file, own)
		}
		err := source.EditMoved(x.Plan, name, own, func(f *goedit.File) error { return w.edit(f, x.data.Reconciler+"."+w.method) })
		if err != nil {
			return &fault.Error{Code: fault.Code(err), Err: err, Hint: x.wireHint(err)}
		}
	}
	return nil
}

func (x featurePlanner) wireSetup(f *goedit.File, fn string) error {
	at := goedit.AfterMention(fn, "For")
	receiver := cmp.Or(f.Receiver(fn), "r")
	for _, t := range x.targets.owned {
		if f.ArgumentsIn(fn, "Owns", t.Kind) != nil {
			continue
		}
		call := fillNames(ownsCall, "$types", f.ImportAt(t.ImportAlias(), x.config.APIPath(t), at), "$kind", t.Kind)
		if err := f.AddCall(fn, call, "For", "Owns", "Watches"); err != nil {
			return err
		}
	}
	for _, t := range x.targets.watched {
		if f.MentionedIn(fn, "requestsFor"+t.Kind) {
			continue
		}
		call := fillNames(watchesCall, "$types", f.ImportAt(t.ImportAlias(), x.config.APIPath(t), at), "$kind", t.Kind, "$r", receiver,
			"$handler", f.ImportAt("", handlers, at), "$builder", f.ImportAt("", builders, at), "$predicate", f.ImportAt("", predicates, at))
		if err := f.AddCall(fn, call, "For", "Owns", "Watches"); err != nil {
			return err
		}
	}
	if len(x.Labels) == 0 || f.MentionedIn(fn, "isSelected") {
		return nil
	}
	selected := fillNames(selectOption, "$predicate", f.ImportAt("", predicates, at), "$r", receiver)
	return f.AddOption(fn, "For", f.ImportAt("", builders, at)+".WithPredicates", selected)
}

// wireReconcile adds these steps after the call that reads the object: the label
// selector, the finalizer, the return for an object that is being deleted and, unless
// specMethod does this, owned objects.
func (x featurePlanner) wireReconcile(f *goedit.File, fn string) error {
	owned := x.targets.owned
	if f.MentionedIn(fn, specMethod) {
		owned = nil
	}
	if len(x.Labels)+len(owned) == 0 && !x.Finalizer {
		return nil
	}
	read := f.ArgumentsIn(fn, "Get", "NamespacedName")
	if len(read) < 3 {
		return fmt.Errorf("%s: %w", fn, errUnread)
	}
	after := []goedit.Anchor{goedit.AfterMention(fn, "Get", "NamespacedName")}
	names := []string{
		"$r", cmp.Or(f.Receiver(fn), "r"), "$ctx", read[0], "$obj", read[2], "$var", strings.TrimPrefix(read[2], "&"),
		"$ctrl", f.ImportAt("ctrl", source.ControllerRuntime, after...),
	}
	for _, s := range x.reconcileSteps(f, fn, owned, after) {
		if s.wanted && !f.MentionedIn(fn, s.mention) {
			if err := f.Insert(fillNames(s.lines, names...), after...); err != nil {
				return err
			}
		}
		if f.MentionedIn(fn, s.mention) {
			after = slices.Insert(after, 0, goedit.AfterMention(fn, s.mention))
		}
		if s.mention == "DeletionTimestamp" {
			// After the copy that the status is compared with, so that changes of the
			// status by the ensure methods are written.
			after = slices.Insert(after, 0, goedit.AfterNext(fn, s.mention, "DeepCopy"))
		}
	}
	return nil
}

// reconcileStep is a step of Reconcile that calls code of a feature.
type reconcileStep struct {
	wanted  bool   // add the step if it is missing; otherwise only find its place
	mention string // an identifier in the step
	lines   string
}

// reconcileSteps returns the steps of Reconcile in their order. after is the place of the
// first one, for imports.
func (x featurePlanner) reconcileSteps(f *goedit.File, fn string, owned []project.Resource, after []goedit.Anchor) []reconcileStep {
	clean := cleanUp
	if f.MentionedIn(fn, reportMethod) {
		clean = fillNames(reportedCleanUp, "$context", f.ImportAt("", "context", after...),
			"$types", f.ImportAt(x.data.Alias, x.data.APIPath, after...), "$kind", x.of.Kind)
	}
	getter := f.MentionedIn(fn, "GetDeletionTimestamp")
	steps := []reconcileStep{
		{len(x.Labels) > 0, "isSelected", selectLines},
		{x.Finalizer, "finalize", fillNames(finalizeLines, "$clean", clean)},
		{false, "GetDeletionTimestamp", ""},
		{!getter, "DeletionTimestamp", deletedLines},
	}
	for _, t := range owned {
		steps = append(steps, reconcileStep{true, "ensure" + t.Kind, fillNames(ensureLines, "$kind", t.Kind)})
	}
	return steps
}

// wireSpec adds the calls for owned objects to the beginning of specMethod.
func (x featurePlanner) wireSpec(f *goedit.File, fn string) error {
	if len(x.Owns) == 0 || !f.HasFunc(fn) {
		return nil
	}
	params, results := f.Signature(fn)
	if len(params) != 2 || slices.Contains(params, "_") {
		return fmt.Errorf("%s must have two named parameters: the context and the object", fn)
	}
	after, lines := []goedit.Anchor{goedit.StartOfFunc(fn)}, ensureLines
	names := []string{"$r", cmp.Or(f.Receiver(fn), "r"), "$ctx", params[0], "$obj", params[1]}
	if results == 1 { // the user removed ctrl.Result
		lines = strings.Replace(lines, "$ctrl.Result{}, ", "", 1)
	} else {
		names = append(names, "$ctrl", f.ImportAt("ctrl", source.ControllerRuntime, after...))
	}
	for _, t := range x.targets.owned {
		ensure := methodPrefix["owned"] + t.Kind
		if !f.MentionedIn(fn, ensure) {
			if err := f.Insert(fillNames(lines, append(names, "$kind", t.Kind)...), after...); err != nil {
				return err
			}
		}
		after = slices.Insert(after, 0, goedit.AfterMention(fn, ensure))
	}
	return nil
}

// wireHint returns the hint for an error of wire. If Reconcile only lacks the call that
// gets its object, the hint has only this call: a repeat can then add the other lines.
func (x featurePlanner) wireHint(err error) string {
	if errors.Is(err, errUnread) {
		return "start the function with these lines, then repeat the command:\n" +
			fillNames(getLines, "$var", x.data.Var, "$types", x.data.Alias, "$kind", x.of.Kind)
	}
	return "add these lines by hand where they belong, then repeat the command:\n" + x.manualLines()
}

// manualLines returns the lines that wire adds, for the user to add by hand.
func (x featurePlanner) manualLines() string {
	names := []string{"$r", "r", "$ctx", "ctx", "$obj", x.data.Var, "$var", x.data.Var, "$ctrl", "ctrl",
		"$handler", "handler", "$builder", "builder", "$predicate", "predicate"}
	var lines []string
	for _, t := range x.targets.owned {
		lines = append(lines, "."+fillNames(ownsCall, append(names, "$types", t.ImportAlias(), "$kind", t.Kind)...))
	}
	for _, t := range x.targets.watched {
		lines = append(lines, "."+fillNames(watchesCall, append(names, "$types", t.ImportAlias(), "$kind", t.Kind)...))
	}
	setup := "in SetupWithManager, after For(...):\n" + strings.Join(lines, "\n")
	if len(lines) == 0 {
		setup = ""
	}
	if len(x.Labels) > 0 {
		setup += "\nin SetupWithManager, as an argument of For:\n" + fillNames("$builder.WithPredicates("+selectOption+")", names...)
	}
	lines = nil
	if len(x.Labels) > 0 {
		lines = append(lines, fillNames(selectLines, names...))
	}
	if x.Finalizer {
		lines = append(lines, fillNames(fillNames(finalizeLines, "$clean", cleanUp), names...))
	}
	if len(lines) > 0 {
		setup += "\nin Reconcile, after the lines that get " + x.data.Var + ":\n" + strings.Join(lines, "\n")
	}
	if len(x.Owns) > 0 {
		setup += "\nin " + specMethod + ", or at the end of these lines in Reconcile if there is none:"
	}
	for _, t := range x.targets.owned {
		setup += "\n" + fillNames(ensureLines, append(names, "$kind", t.Kind)...)
	}
	return strings.TrimSpace(setup)
}
