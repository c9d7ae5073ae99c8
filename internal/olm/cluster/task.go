package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
)

// task is a change of the operator of a package. It undoes its steps when it fails.
type task struct {
	*Client
	namespace string
	bundle    *bundle.Bundle
	undo      []undo                      // in the order of the steps
	detach    func(context.Context) error // ends the subscription to the catalog of operon
	close     []func()                    // what the task serves
}

// end ends what the task serves.
func (t *task) end() {
	for _, f := range t.close {
		f()
	}
}

// undo reverts a step.
type undo struct {
	what string // that stays if it fails, such as "Subscription operon-fleet"
	do   func(context.Context) error
}

// add creates an object, which a failure of the task removes.
func (t *task) add(ctx context.Context, r resource, name string, fields map[string]any) error {
	t.willRemove(r, t.namespace, name) // also if the answer to the request is lost
	return t.create(ctx, r, t.namespace, name, fields)
}

// willRemove adds a step that removes an object.
func (t *task) willRemove(r resource, namespace, name string) {
	t.undo = append(t.undo, undo{r.kind + " " + name, func(ctx context.Context) error {
		_, err := t.remove(ctx, r, namespace, name)
		return err
	}})
}

// undoTimeout is the time for undoing all steps.
const undoTimeout = time.Minute

// revert undoes all steps, the last one first, also after the context has ended. The error names
// what could not be undone.
func (t *task) revert(ctx context.Context) error {
	ctx, cancel := WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	var left []string
	var failed error
	for _, step := range slices.Backward(t.undo) {
		if err := step.do(ctx); err != nil {
			left, failed = append(left, step.what), errors.Join(failed, err)
		}
	}
	t.undo = nil
	if len(left) > 0 {
		return fault.Failed("remove it by hand, or with operon cleanup", "left in namespace %s: %s (%v)", t.namespace, strings.Join(left, ", "), failed)
	}
	return nil
}

// fail reports why the task failed, and undoes its steps.
func (t *task) fail(ctx context.Context, err error) error {
	if len(t.undo) == 0 {
		return err
	}
	if left := t.revert(ctx); left != nil {
		t.Note("%v", left)
		return err
	}
	t.Note("undid all changes in namespace %s", t.namespace)
	return err
}
