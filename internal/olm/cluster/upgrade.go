package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Upgrade upgrades the operator in a namespace to the version in the bundle. It uses the Subscription
// of the operator, and restores its spec afterwards; without one, it creates one for the time of the
// upgrade. changed is false if the version is installed already.
//
// After a failure, OLM keeps the previous version only if it has not begun to replace it. Otherwise
// the previous version is installed again from its ClusterServiceVersion.
func (c *Client) Upgrade(ctx context.Context, o Options) (changed bool, err error) {
	found, present, err := c.findUpgradable(ctx, o)
	if err != nil || present {
		return false, err
	}
	if err := c.removeLeftovers(ctx, o.Namespace, o.Bundle.Package(), found); err != nil {
		return false, err
	}
	t := &task{Client: c, namespace: o.Namespace, bundle: o.Bundle}
	defer t.end()
	if err := t.upgrade(ctx, o, found, found.csvs[0]); err != nil {
		return false, t.fail(ctx, err)
	}
	return true, nil
}

// findUpgradable finds what the namespace has of the package: one version that can be upgraded, or the bundle itself.
func (c *Client) findUpgradable(ctx context.Context, o Options) (found installed, present bool, err error) {
	pkg := o.Bundle.Package()
	for {
		found, present, err = c.findBundle(ctx, o)
		switch {
		case err != nil || present:
			return found, present, err
		case len(found.csvs) == 0:
			return found, false, fault.Usage("install it: operon run bundle BUNDLE", "package %s is not installed in namespace %s", pkg, o.Namespace)
		case len(found.csvs) > 1:
			return found, false, fault.Failed("wait for it, or remove all of them: operon cleanup "+pkg+" -n "+o.Namespace, "an upgrade is in progress in namespace %s: %s", o.Namespace, found.names())
		}
		previous := found.csvs[0]
		if err := checkOrder(jsonvalue.String(previous.Object, "spec", "version"), o.Bundle.Version()); err != nil {
			return found, false, err
		}
		waited, err := c.waitInstalled(ctx, previous, pkg)
		if err != nil || !waited {
			return found, false, err
		}
		// Meanwhile OLM or a user may have changed what the namespace has.
	}
}

// waitInstalled waits while OLM installs a version. waited is false if it is installed already. OLM installs a version
// again when a check of its objects has failed, also if that is because the cluster is slow.
func (c *Client) waitInstalled(ctx context.Context, csv unstructured.Unstructured, pkg string) (waited bool, err error) {
	var failed failure
	var phase string
	cleanup := "operon cleanup " + pkg + " -n " + csv.GetNamespace()
	err = c.until(ctx, func() (bool, string, error) {
		o, err := c.get(ctx, csvs, csv.GetNamespace(), csv.GetName())
		if err != nil || o == nil {
			waited = true
			if ctx.Err() == nil {
				phase = "" // unknown now
			}
			return err == nil, "", err
		}
		phase = jsonvalue.String(o.Object, "status", "phase")
		message := jsonvalue.String(o.Object, "status", "message")
		final := false
		switch phase {
		case "Succeeded":
			return true, "", nil
		case "", "Pending", "InstallReady", "Installing":
			failed.persists("")
		case "Failed":
			final = failed.persists(cmp.Or(message, phase))
		default:
			final = true
		}
		if final {
			return false, "", fault.Failed("remove it: "+cleanup, "%s cannot be upgraded: it is in phase %s", csv.GetName(), phase)
		}
		waited = true
		return false, fmt.Sprintf("%s is in phase %s: %s", csv.GetName(), phase, message), nil
	})
	if err != nil && isTimeout(ctx) && phase != "" {
		err = &fault.Error{Code: fault.Code(err), Hint: fault.HintOf(err) + ", or remove the operator: " + cleanup, Err: err}
	}
	return waited, err
}

// checkOrder returns an error if the next version is not later.
func checkOrder(previous, next string) error {
	a, errA := semver.Parse(previous)
	b, errB := semver.Parse(next)
	if errA == nil && errB == nil && !b.GT(a) {
		return fault.Usage("generate a later version: operon bundle generate --version", "version %s is not later than the installed version %s", next, previous)
	}
	return nil
}

// upgrade makes OLM replace the previous version.
func (t *task) upgrade(ctx context.Context, o Options, found installed, previous unstructured.Unstructured) error {
	if err := t.ensureOperatorGroup(ctx, Mode{}); err != nil {
		return err
	}
	name := objectName(t.bundle.Package())
	subscription, userOwned := name, false
	for _, s := range found.subscriptions {
		if !createdByOperon(s) {
			subscription, userOwned = s.GetName(), true
		}
	}
	if userOwned { // before the catalog, so that OLM cannot approve the InstallPlan itself
		t.detach = func(ctx context.Context) error { return t.restoreSubscription(ctx, t.namespace, subscription) }
		t.undo = append(t.undo, undo{"Subscription " + subscription, func(ctx context.Context) error {
			if err := t.detach(ctx); err != nil || t.previous != "" && t.previousRemoved(ctx) {
				return err
			}
			return t.resetStatus(ctx, subscription, previous.GetName())
		}})
		if err := t.redirect(ctx, t.namespace, subscription, map[string]any{"installPlanApproval": "Manual"}); err != nil {
			return err
		}
	}
	channel, err := t.catalog(ctx, o, name, previous.GetName())
	if err != nil {
		return err
	}
	spec := t.subscription(name, channel)
	if userOwned {
		if err = t.redirect(ctx, t.namespace, subscription, spec); err == nil { // problems of its own catalog do not count
			err = t.resetStatus(ctx, subscription, previous.GetName())
		}
	} else {
		err = t.resubscribe(ctx, name, spec, previous.GetName())
	}
	if err != nil {
		return err
	}
	t.keepPrevious(previous)
	if err := t.complete(ctx, subscription); err != nil {
		return err
	}
	if err := t.waitRemoved(ctx, previous.GetName()); err != nil {
		return err
	}
	if err := t.waitSucceeded(ctx); err != nil { // OLM may have installed some parts again
		return err
	}
	if !userOwned {
		return t.removeTemporary(ctx, name)
	}
	if err := t.detach(ctx); err != nil {
		return err
	}
	_, err = t.removeCatalog(ctx, t.namespace, t.bundle.Package())
	return err
}

// resubscribe creates a Subscription for an operator that has none. OLM takes the operator for
// its own by the status.
func (t *task) resubscribe(ctx context.Context, name string, spec map[string]any, previous string) error {
	if err := t.subscribe(ctx, name, spec); err != nil {
		return err
	}
	return t.resetStatus(ctx, name, previous)
}

// resetStatus gives a Subscription the status of an operator without an upgrade. After an
// upgrade that was undone, OLM would wait for an InstallPlan that does not exist. Problems that OLM has
// reported before may take a while to go: it retries less and less often.
func (t *task) resetStatus(ctx context.Context, name, installed string) error {
	o, err := t.get(ctx, subscriptions, t.namespace, name)
	if err != nil || o == nil {
		return err
	}
	failed := condition(o.Object, "ResolutionFailed")["status"] == "True"
	if !failed && jsonvalue.String(o.Object, "status", "currentCSV") == installed {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"installedCSV": installed, "currentCSV": installed, "state": "AtLatestKnown", "lastUpdated": metav1.Now(),
		"installPlanRef": nil, "installplan": nil, "installPlanGeneration": nil, "conditions": nil,
	}})
	if err != nil {
		return err
	}
	_, err = t.client(subscriptions, t.namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	return explain(ctx, err)
}

// keepPrevious makes a failure of the task install the previous version again. The step runs after
// the new ClusterServiceVersion is removed.
func (t *task) keepPrevious(previous unstructured.Unstructured) {
	t.previous, t.cleanupSteps = previous.GetName(), len(t.undo)
	t.undo = append(t.undo, undo{"ClusterServiceVersion " + previous.GetName(), func(ctx context.Context) error {
		o, err := t.get(ctx, csvs, t.namespace, previous.GetName())
		switch {
		case err != nil:
			return err
		case o == nil:
			return fmt.Errorf("OLM has removed %s", previous.GetName())
		case jsonvalue.String(o.Object, "status", "phase") == "Succeeded":
			return nil
		}
		patch := []byte(`{"status":{"phase":"Pending","reason":"NeedsReinstall","message":"the upgrade was undone"}}`)
		client := t.client(csvs, t.namespace)
		if _, err := client.Patch(ctx, previous.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
			return err
		}
		err = t.until(ctx, func() (bool, string, error) {
			o, err := t.get(ctx, csvs, t.namespace, previous.GetName())
			if err != nil || o == nil {
				return false, "", err
			}
			phase := jsonvalue.String(o.Object, "status", "phase")
			return phase == "Succeeded", fmt.Sprintf("ClusterServiceVersion %s is in phase %s: %s", previous.GetName(), phase, jsonvalue.String(o.Object, "status", "message")), nil
		})
		if err == nil {
			t.Note("ClusterServiceVersion %s is installed again", previous.GetName())
		}
		return err
	}})
}

// previousRemoved reports whether OLM has removed the previous version, or is about to. It does so when the
// new one works. Without an answer, the new version must stay too.
func (t *task) previousRemoved(ctx context.Context) (gone bool) {
	ctx, cancel := t.undoContext(ctx)
	defer cancel()
	err := t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, csvs, t.namespace, t.previous)
		gone = err == nil && (o == nil || o.GetDeletionTimestamp() != nil || jsonvalue.String(o.Object, "status", "phase") == "Deleting")
		return err == nil, "", err
	})
	return gone || err != nil
}

// waitRemoved waits until OLM has removed the previous version.
func (t *task) waitRemoved(ctx context.Context, previous string) error {
	return t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, csvs, t.namespace, previous)
		return o == nil && err == nil, "OLM removes " + previous, err
	})
}
