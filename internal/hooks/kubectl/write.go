package kubectl

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// say tells what was done to an object: as the object itself, when an output is
// asked for.
func (r *run) say(t target, o *unstructured.Unstructured, done string, dry bool) error {
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

// each does something to each of the objects, and goes on when it fails.
func each(targets []target, do func(t target) error) error {
	var faults problems
	for _, t := range targets {
		faults.add(do(t))
	}
	return faults.err()
}

// noFiles is what most verbs say without -f.
const noFiles = "must specify one of -f and -k"

// eachOfFiles does something to each of the objects of files, or says that none were
// given.
func (r *run) eachOfFiles(verb, none string, do func(t target) error) error {
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
	return each(targets, do)
}

// create creates the objects of files.
func (r *run) create(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("operon's kubectl does not know kubectl create %s", args[0])
	}
	return r.eachOfFiles("create", noFiles, r.createOne)
}

func (r *run) createOne(t target) error {
	dry, err := r.dry()
	if err != nil {
		return err
	}
	o := t.object
	if !dry {
		if o, err = r.api.Create(r, t.kind, o); err != nil {
			return t.wrap("creating", err)
		}
	}
	t.name = o.GetName()
	return r.say(t, o, "created", dry)
}

// replace puts the objects of files in the place of what is there.
func (r *run) replace([]string) error {
	return r.eachOfFiles("replace", "must specify --filename to replace", r.replaceOne)
}

func (r *run) replaceOne(t target) error {
	dry, err := r.dry()
	if err != nil {
		return err
	}
	if dry {
		return r.say(t, t.object, "replaced", true)
	}
	if r.force {
		return r.forceOne(t)
	}
	o, err := r.api.Update(r, t.kind, t.object, r.subresource)
	if err != nil {
		return t.wrap("replacing", err)
	}
	return r.say(t, o, "replaced", false)
}

// forceOne deletes an object and creates it anew.
func (r *run) forceOne(t target) error {
	how, err := r.propagation()
	if err != nil {
		return err
	}
	switch err := r.api.Delete(r, t.kind, t.namespace, t.name, how); {
	case err == nil:
		r.sayDeleted(t)
	case !apierrors.IsNotFound(err):
		return err
	}
	t.object.SetResourceVersion("")
	o, err := r.api.Create(r, t.kind, t.object)
	if err != nil {
		return err
	}
	return r.say(t, o, "replaced", false)
}

func (r *run) sayDeleted(t target) {
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
func (r *run) delete(args []string) error {
	how, err := r.propagation()
	if err != nil {
		return err
	}
	if dry, err := r.dry(); err != nil || dry {
		return errors.Join(err, errors.New("operon's kubectl does not know --dry-run of kubectl delete"))
	}
	if r.output != "" && r.output != "name" {
		return fmt.Errorf("unexpected -o output mode: %v. We only support '-o name'", r.output)
	}
	ignore := r.ignoreMissing
	targets, err := r.targets(args, true)
	if err != nil {
		return err
	}
	if r.all && !r.changed("ignore-not-found") {
		ignore = true
	}
	if len(targets) == 0 && r.output == "" && !r.ignoreMissing {
		r.printf("No resources found\n")
	}
	return each(targets, func(t target) error {
		err := r.api.Delete(r, t.kind, t.namespace, t.name, how)
		if err != nil {
			if ignore && apierrors.IsNotFound(err) {
				return nil
			}
			return t.wrap("deleting", err)
		}
		r.sayDeleted(t)
		return nil
	})
}
