package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/bundle"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// hintEvents is the hint if OLM cannot install a bundle.
const hintEvents = "kubectl events --all-namespaces shows what OLM and the cluster report"

// complete waits for the InstallPlan of a Subscription, approves it, and waits until the bundle
// is installed.
func (t *task) complete(ctx context.Context, subscription string) error {
	plan, err := t.waitPlanned(ctx, subscription)
	if err != nil {
		return t.diagnose(ctx, subscription, "", err)
	}
	if err := t.approve(ctx, plan); err != nil {
		return err
	}
	if err := t.waitExecuted(ctx, plan); err != nil {
		return t.diagnose(ctx, subscription, plan, err)
	}
	if err := t.waitSucceeded(ctx); err != nil {
		return t.diagnose(ctx, subscription, plan, err)
	}
	return t.labelDigest(ctx)
}

// failureGracePeriod is how long OLM must report the same failure before it is final: OLM repeats most of
// what fails.
const failureGracePeriod = 5 * time.Second

// failure is a failure that OLM reports, and when it did so first.
type failure struct {
	text  string
	since time.Time
}

// persists reports whether OLM has reported the same failure for some time.
func (f *failure) persists(text string) bool {
	if text == "" || text != f.text {
		*f = failure{text, time.Now()}
	}
	return text != "" && time.Since(f.since) >= failureGracePeriod
}

// resolutionRetries is how often OLM resolves an upgrade again before its error counts.
const resolutionRetries = 3

// waitPlanned waits until OLM has made an InstallPlan for the bundle, and returns its name.
func (t *task) waitPlanned(ctx context.Context, subscription string) (name string, err error) {
	var failed failure
	retries := 0
	if t.previous != "" {
		retries = resolutionRetries
	}
	err = t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, subscriptions, t.namespace, subscription)
		if err != nil || o == nil {
			return false, "", err
		}
		name = ""
		ref, current := jsonvalue.String(o.Object, "status", "installPlanRef", "name"), jsonvalue.String(o.Object, "status", "currentCSV")
		if ref != "" && current == t.bundle.Name() {
			plan, err := t.get(ctx, installPlans, t.namespace, ref)
			if err != nil {
				return false, "", err
			}
			if plan != nil { // an upgrade that was undone leaves the reference
				name = ref
			}
		}
		reason, final := t.resolving(), false
		for _, kind := range []string{"ResolutionFailed", "BundleUnpackFailed", "BundleUnpacking"} {
			if c := condition(o.Object, kind); c["status"] == "True" {
				reason, final = jsonvalue.String(c, "message"), kind != "BundleUnpacking"
				if !final {
					reason = cmp.Or(t.unpackProblem(ctx), reason, "OLM unpacks the image of the bundle")
				}
				break
			}
		}
		if !final {
			failed.persists("")
		} else if name == "" && failed.persists(reason) {
			if retries == 0 {
				return false, "", fault.Failed(hintEvents, "OLM cannot resolve %s: %s", t.bundle.Name(), reason)
			}
			// OLM may have read the Subscription before it was changed, and then overwrites its status. It retries less
			// and less often.
			retries, failed = retries-1, failure{}
			if err := t.resetStatus(ctx, subscription, t.previous); err != nil {
				return false, "", err
			}
		}
		return name != "", reason, nil
	})
	return name, err
}

// resolving says what OLM does before it makes an InstallPlan. It keeps the previous version, and reports
// no problem, while the dependencies of an upgrade are missing.
func (t *task) resolving() string {
	var required []string
	for _, d := range t.bundle.Dependencies {
		switch d.Type {
		case bundle.PropertyPackage:
			required = append(required, fmt.Sprintf("package %s %s", jsonvalue.String(d.Value, "packageName"), jsonvalue.String(d.Value, "version")))
		case bundle.PropertyGVK:
			api := jsonvalue.String(d.Value, "group") + "/" + jsonvalue.String(d.Value, "version")
			required = append(required, fmt.Sprintf("kind %s of %s", jsonvalue.String(d.Value, "kind"), api))
		}
	}
	if len(required) == 0 {
		return "OLM resolves the Subscription"
	}
	return fmt.Sprintf("OLM resolves the Subscription; %s requires %s", t.bundle.Name(), strings.Join(required, ", "))
}

// waitExecuted waits until OLM has created the objects of an InstallPlan.
func (t *task) waitExecuted(ctx context.Context, plan string) error {
	return t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, installPlans, t.namespace, plan)
		if err != nil || o == nil {
			return false, "", err
		}
		phase := jsonvalue.String(o.Object, "status", "phase")
		message := jsonvalue.String(condition(o.Object, "Installed"), "message")
		if phase == "Failed" {
			return false, "", fault.Failed(hintEvents, "InstallPlan %s failed: %s", plan, message)
		}
		return phase == "Complete", strings.TrimSuffix(fmt.Sprintf("InstallPlan %s is in phase %s: %s", plan, phase, message), ": "), nil
	})
}

// waitSucceeded waits until the ClusterServiceVersion reports success.
func (t *task) waitSucceeded(ctx context.Context) error {
	var failed failure
	return t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, csvs, t.namespace, t.bundle.Name())
		if err != nil || o == nil {
			return false, "OLM creates ClusterServiceVersion " + t.bundle.Name(), err
		}
		phase, message := jsonvalue.String(o.Object, "status", "phase"), jsonvalue.String(o.Object, "status", "message")
		problem, err := t.podsRun(ctx)
		switch {
		case err != nil:
			return false, "", err
		case phase == "Failed":
			if failed.persists(message) {
				return false, "", fault.Failed(hintEvents, "ClusterServiceVersion %s failed: %s", t.bundle.Name(), message)
			}
		case phase == "Succeeded":
			return t.rolledOut(ctx)
		default:
			failed.persists("")
		}
		return false, cmp.Or(problem, fmt.Sprintf("ClusterServiceVersion %s is in phase %s: %s", t.bundle.Name(), phase, message)), nil
	})
}

// podsRun returns why a pod of the operator does not run yet, or "". It is an error if it never will.
func (t *task) podsRun(ctx context.Context) (problem string, err error) {
	problem, final, err := t.podProblem(ctx)
	if err == nil && final {
		err = fault.Failed("correct the Deployment, and generate the bundle again", "%s does not start: %s", t.bundle.Name(), problem)
	}
	return problem, err
}

// rolledOut reports whether only pods of this version run. OLM reports success when enough pods
// are available, also if they are from the previous version.
func (t *task) rolledOut(ctx context.Context) (done bool, reason string, err error) {
	for _, d := range t.bundle.Deployments() {
		name := jsonvalue.String(d, "name")
		o, err := t.get(ctx, deployments, t.namespace, name)
		if err != nil || o == nil {
			return false, "Deployment " + name + " does not exist", err
		}
		wanted := jsonvalue.Int(o.Object, "spec", "replicas")
		status := func(key string) int64 { return jsonvalue.Int(o.Object, "status", key) }
		if status("observedGeneration") != o.GetGeneration() ||
			status("updatedReplicas") != wanted || status("availableReplicas") != wanted || status("replicas") != wanted {
			return false, fmt.Sprintf("Deployment %s replaces its pods", name), nil
		}
	}
	return true, "", nil
}

// labelDigest stores the digest of the bundle, so that a repeat knows whether it has changed.
func (t *task) labelDigest(ctx context.Context) error {
	sum, err := digest(t.bundle)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{digestKey: sum}}})
	if err != nil {
		return err
	}
	_, err = t.client(csvs, t.namespace).Patch(ctx, t.bundle.Name(), types.MergePatchType, patch, metav1.PatchOptions{})
	return explain(ctx, err)
}
