package kubectl

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// report prints what was done to an object, or the object itself with -o.
func (r *runner) report(t target, o *unstructured.Unstructured, done string, dry bool) error {
	switch {
	case r.output == "name":
		r.printf("%s\n", t.title())
		return nil
	case r.output != "":
		return r.printObject(o)
	case dry:
		done += " (dry run)"
	}
	r.printf("%s %s\n", t.title(), done)
	return nil
}

// forEach calls do for each object, also after an error.
func forEach(targets []target, do func(t target) error) error {
	var errs errorList
	for _, t := range targets {
		errs.add(do(t))
	}
	return errs.err()
}

// noFiles is the error of most commands without -f.
const noFiles = "must specify one of -f and -k"

// eachOfFiles calls do for each object in the files of -f. none is the error without -f.
func (r *runner) eachOfFiles(verb, none string, do func(t target) error) error {
	if len(r.filenames) == 0 {
		return errors.New(none)
	}
	targets, err := r.fromFiles()
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return errors.New("no objects passed to " + verb)
	}
	return forEach(targets, do)
}

// create creates the objects in files.
func (r *runner) create(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("kubectl create %s is not available in hook tests", args[0])
	}
	return r.eachOfFiles("create", noFiles, func(t target) error { return r.createOne(ctx, t) })
}

func (r *runner) createOne(ctx context.Context, t target) error {
	dry, err := r.isDryRun()
	if err != nil {
		return err
	}
	o := t.object
	if !dry {
		if o, err = r.api.Create(ctx, t.kind, o); err != nil {
			return t.wrap("creating", err)
		}
	}
	t.name = o.GetName()
	return r.report(t, o, "created", dry)
}

// replace replaces objects with those in files.
func (r *runner) replace(ctx context.Context, _ []string) error {
	return r.eachOfFiles("replace", "must specify --filename to replace", func(t target) error { return r.replaceOne(ctx, t) })
}

func (r *runner) replaceOne(ctx context.Context, t target) error {
	dry, err := r.isDryRun()
	if err != nil {
		return err
	}
	if dry {
		return r.report(t, t.object, "replaced", true)
	}
	if r.force {
		return r.recreate(ctx, t)
	}
	o, err := r.api.Update(ctx, t.kind, t.object, r.subresource)
	if err != nil {
		return t.wrap("replacing", err)
	}
	return r.report(t, o, "replaced", false)
}

// recreate deletes an object and creates it again.
func (r *runner) recreate(ctx context.Context, t target) error {
	how, err := r.propagation()
	if err != nil {
		return err
	}
	switch err := r.api.Delete(ctx, t.kind, t.namespace, t.name, how); {
	case err == nil:
		r.reportDeleted(t)
	case !apierrors.IsNotFound(err):
		return err
	}
	t.object.SetResourceVersion("")
	o, err := r.api.Create(ctx, t.kind, t.object)
	if err != nil {
		return err
	}
	return r.report(t, o, "replaced", false)
}

func (r *runner) reportDeleted(t target) {
	switch {
	case r.output == "name":
		r.printf("%s\n", t.title())
	case t.kind.Namespaced:
		r.printf("%s %q deleted from %s namespace\n", titleOf(t.kind), t.name, t.namespace)
	default:
		r.printf("%s %q deleted\n", titleOf(t.kind), t.name)
	}
}

// delete deletes objects.
func (r *runner) delete(ctx context.Context, args []string) error {
	how, err := r.propagation()
	if err != nil {
		return err
	}
	if dry, err := r.isDryRun(); err != nil || dry {
		return errors.Join(err, errors.New("--dry-run of kubectl delete is not available in hook tests"))
	}
	if r.output != "" && r.output != "name" {
		return fmt.Errorf("unexpected -o output mode: %v. We only support '-o name'", r.output)
	}
	ignore := r.ignoreMissing
	targets, err := r.targets(ctx, args, true)
	if err != nil {
		return err
	}
	if r.all && !r.changed("ignore-not-found") {
		ignore = true
	}
	if len(targets) == 0 && r.output == "" && !r.ignoreMissing {
		r.printf("No resources found\n")
	}
	return forEach(targets, func(t target) error {
		err := r.api.Delete(ctx, t.kind, t.namespace, t.name, how)
		if err != nil {
			if ignore && apierrors.IsNotFound(err) {
				return nil
			}
			return t.wrap("deleting", err)
		}
		r.reportDeleted(t)
		return nil
	})
}
