package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/olm/bundle"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

// task is a change of the operator of a package. It undoes its steps when it fails.
type task struct {
	*Client
	namespace    string
	bundle       *bundle.Bundle
	image        string                      // of the bundle, which OLM unpacks; "" if the catalog has the manifests
	undo         []undo                      // in the order of the steps
	previous     string                      // the ClusterServiceVersion that the task replaces, or ""
	cleanupSteps int                         // steps that a failure undoes also after the previous version is gone
	detach       func(context.Context) error // ends the subscription to the catalog of operon
	close        []func()                    // what the task serves
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
	var uid types.UID // stays empty if the answer to the request is lost
	var err error
	t.undo = append(t.undo, undo{r.kind + " " + name, func(ctx context.Context) error {
		_, err := t.removeCreated(ctx, r, t.namespace, name, uid)
		return err
	}})
	if uid, err = t.create(ctx, r, t.namespace, name, fields); apierrors.IsAlreadyExists(err) {
		t.undo = t.undo[:len(t.undo)-1]
		return fault.Failed("delete it, or wait until the other command ends", "namespace %s already has %s %s", t.namespace, r.kind, name)
	}
	return err
}

// undoTimeout is the least time for undoing a step.
const undoTimeout = 2 * time.Minute

// undoContext returns the context for undoing a step, also after the context of the task has ended. A command
// with more time for all of its work has as much for the step, because the cluster may be slow, unless the
// user has interrupted it and waits.
func (c *Client) undoContext(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := max(undoTimeout, c.Timeout)
	if ctx.Err() != nil && !isTimeout(ctx) {
		limit = undoTimeout
	}
	return WithTimeout(context.WithoutCancel(ctx), limit)
}

// run undoes the step.
func (t *task) run(ctx context.Context, step undo) error {
	ctx, cancel := t.undoContext(ctx)
	defer cancel()
	return step.do(ctx)
}

// revert undoes all steps, the last one first. The error names what could not be undone.
func (t *task) revert(ctx context.Context) error {
	var left []string
	var failed error
	for _, step := range slices.Backward(t.undo) {
		if err := t.run(ctx, step); err != nil {
			left, failed = append(left, step.what), errors.Join(failed, err)
		}
	}
	t.undo = nil
	if len(left) > 0 {
		return fault.Failed("remove it by hand, or with operon cleanup", "left in namespace %s: %s (%v)", t.namespace, strings.Join(left, ", "), failed)
	}
	return nil
}

// fail reports why the task failed, and undoes its steps. The new version stays if OLM has removed
// the previous one: without both of them, the operator would not run.
func (t *task) fail(ctx context.Context, err error) error {
	if len(t.undo) == 0 {
		return err
	}
	if t.previous != "" && t.previousRemoved(ctx) {
		t.undo = t.undo[:t.cleanupSteps]
		t.Note("%s stays in namespace %s: OLM has removed %s", t.bundle.Name(), t.namespace, t.previous)
		if left := t.revert(ctx); left != nil {
			t.Note("%v", left)
		}
		return err
	}
	if left := t.revert(ctx); left != nil {
		t.Note("%v", left)
		return err
	}
	t.Note("undid all changes in namespace %s", t.namespace)
	return err
}
