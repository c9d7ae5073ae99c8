package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/podstate"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var replicaSets = resource{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}, "ReplicaSet"}

// diagnoseTimeout is the time for reading what failed.
const diagnoseTimeout = 10 * time.Second

// diagnose notes the state of everything that takes part in the installation, before it is
// undone, and returns the error. An interrupted task has nothing to diagnose.
func (t *task) diagnose(ctx context.Context, subscription, plan string, failed error) error {
	if ctx.Err() != nil && !isTimeout(ctx) {
		return failed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnoseTimeout)
	defer cancel()
	lines := slices.Concat(t.subscriptionState(ctx, subscription), t.unpackState(ctx), t.planState(ctx, plan), t.csvState(ctx))
	for _, d := range t.bundle.Deployments() {
		lines = append(lines, t.deploymentState(ctx, d)...)
	}
	for _, line := range lines {
		t.Note("%s", line)
	}
	return failed
}

// subscriptionState describes the conditions of a Subscription that tell a failure.
func (t *task) subscriptionState(ctx context.Context, name string) (lines []string) {
	o, err := t.get(ctx, subscriptions, t.namespace, name)
	if err != nil || o == nil {
		return nil
	}
	for _, c := range jsonvalue.Maps(o.Object, "status", "conditions") {
		if c["status"] == "True" && c["type"] != "InstallPlanPending" {
			lines = append(lines, conditionLine("Subscription "+name, c))
		}
	}
	return lines
}

func conditionLine(of string, c map[string]any) string {
	state := jsonvalue.String(c, "type")
	if reason := jsonvalue.String(c, "reason"); reason != "" {
		state += " (" + reason + ")"
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", of, state, jsonvalue.String(c, "message")), ": ")
}

// planState describes the steps of an InstallPlan that OLM did not complete.
func (t *task) planState(ctx context.Context, name string) (lines []string) {
	if name == "" {
		return nil
	}
	o, err := t.get(ctx, installPlans, t.namespace, name)
	if err != nil || o == nil || jsonvalue.String(o.Object, "status", "phase") == "Complete" {
		return nil
	}
	lines = append(lines, fmt.Sprintf("InstallPlan %s: phase %s", name, jsonvalue.String(o.Object, "status", "phase")))
	for _, c := range jsonvalue.Maps(o.Object, "status", "conditions") {
		lines = append(lines, conditionLine("InstallPlan "+name, c))
	}
	for _, l := range jsonvalue.Maps(o.Object, "status", "bundleLookups") {
		for _, c := range jsonvalue.Maps(l, "conditions") {
			lines = append(lines, conditionLine("bundle "+jsonvalue.String(l, "path"), c))
		}
	}
	return lines
}

// csvState describes the ClusterServiceVersion and its requirements that are not met.
func (t *task) csvState(ctx context.Context) []string {
	o, err := t.get(ctx, csvs, t.namespace, t.bundle.Name())
	if err != nil || o == nil {
		return nil
	}
	name := "ClusterServiceVersion " + t.bundle.Name()
	field := func(key string) string { return jsonvalue.String(o.Object, "status", key) }
	lines := []string{fmt.Sprintf("%s: %s (%s): %s", name, field("phase"), field("reason"), field("message"))}
	for _, r := range jsonvalue.Maps(o.Object, "status", "requirementStatus") {
		if status := jsonvalue.String(r, "status"); status != "Present" && status != "PresentSatisfied" {
			needed := jsonvalue.String(r, "kind") + " " + jsonvalue.String(r, "name")
			lines = append(lines, fmt.Sprintf("%s needs %s: %s: %s", name, needed, status, jsonvalue.String(r, "message")))
			for _, d := range jsonvalue.Maps(r, "dependents") {
				if jsonvalue.String(d, "status") != "Satisfied" {
					lines = append(lines, fmt.Sprintf("%s needs %s: %s", name, jsonvalue.String(d, "kind"), jsonvalue.String(d, "message")))
				}
			}
		}
	}
	return lines
}

// podsOf returns the pods of this version of a Deployment in the ClusterServiceVersion. Other pods can
// have the same labels, and the pods of the previous version run until the new ones are ready.
func (t *task) podsOf(ctx context.Context, deployment map[string]any) ([]unstructured.Unstructured, error) {
	d, err := t.get(ctx, deployments, t.namespace, jsonvalue.String(deployment, "name"))
	if err != nil || d == nil {
		return nil, err
	}
	if owned, err := t.owns(ctx, d); err != nil || !owned || jsonvalue.Int(d.Object, "status", "observedGeneration") != d.GetGeneration() {
		return nil, err // OLM has not updated the Deployment yet, or its controller has not seen that
	}
	want, _, _ := unstructured.NestedStringMap(deployment, "spec", "selector", "matchLabels")
	if len(want) == 0 {
		return nil, nil
	}
	selected := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(want).String()}
	sets, err := t.list(ctx, replicaSets, t.namespace, selected)
	if err != nil {
		return nil, err
	}
	all, err := t.list(ctx, pods, t.namespace, selected)
	return slices.DeleteFunc(all, func(p unstructured.Unstructured) bool {
		return !slices.ContainsFunc(sets, func(s unstructured.Unstructured) bool {
			return hasOwner(&p, s.GetUID()) && hasOwner(&s, d.GetUID()) && s.GetAnnotations()[revisionKey] == d.GetAnnotations()[revisionKey]
		})
	}), err
}

// owns reports whether a Deployment belongs to the ClusterServiceVersion.
func (t *task) owns(ctx context.Context, d *unstructured.Unstructured) (bool, error) {
	csv, err := t.get(ctx, csvs, t.namespace, t.bundle.Name())
	return csv != nil && hasOwner(d, csv.GetUID()), err
}

// revisionKey is the annotation of a Deployment and of its ReplicaSets with the revision of the pods.
const revisionKey = "deployment.kubernetes.io/revision"

// hasOwner reports whether an object has an owner with the UID.
func hasOwner(o *unstructured.Unstructured, uid types.UID) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid })
}

// podProblem returns why a pod of the operator does not run, or "", and whether it will never
// run.
func (t *task) podProblem(ctx context.Context) (text string, final bool, err error) {
	for _, d := range t.bundle.Deployments() {
		all, err := t.podsOf(ctx, d)
		if err != nil {
			return "", false, err
		}
		for _, p := range all {
			for _, problem := range problemsOf(p) {
				if text == "" || problem.Final {
					text = fmt.Sprintf("pod %s: %s", p.GetName(), problem.Text)
				}
				if problem.Final {
					return text, true, nil
				}
			}
		}
	}
	return text, false, nil
}

// deploymentState describes the pods of a Deployment: their problems, events and logs.
func (t *task) deploymentState(ctx context.Context, deployment map[string]any) (lines []string) {
	name := jsonvalue.String(deployment, "name")
	if o, err := t.get(ctx, deployments, t.namespace, name); err == nil && o != nil {
		if c := condition(o.Object, "ReplicaFailure"); c["status"] == "True" {
			lines = append(lines, conditionLine("Deployment "+name, c))
		}
	}
	all, err := t.podsOf(ctx, deployment)
	if err != nil {
		return lines
	}
	for _, p := range all {
		lines = append(lines, t.podState(ctx, p)...)
	}
	return lines
}

// podStateByName describes a pod, before it is removed.
func (t *task) podStateByName(ctx context.Context, name string) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnoseTimeout)
	defer cancel()
	o, err := t.get(ctx, pods, t.namespace, name)
	if err != nil || o == nil {
		return nil
	}
	return t.podState(ctx, *o)
}

// podState describes a pod that is not ready.
func (t *task) podState(ctx context.Context, pod unstructured.Unstructured) (lines []string) {
	if condition(pod.Object, "Ready")["status"] == "True" {
		return nil
	}
	name := "pod " + pod.GetName()
	lines = append(lines, fmt.Sprintf("%s: phase %s", name, cmp.Or(jsonvalue.String(pod.Object, "status", "phase"), "Pending")))
	problems := problemsOf(pod)
	for _, p := range problems {
		lines = append(lines, name+": "+p.Text)
	}
	for _, line := range podstate.Warnings(ctx, t.Objects, &pod) {
		lines = append(lines, name+": "+line)
	}
	for _, p := range problems {
		if !p.Ran {
			continue
		}
		if log, err := t.Logs(ctx, t.namespace, pod.GetName(), p.Container, true); err == nil {
			for line := range strings.Lines(log) {
				lines = append(lines, "log of "+p.Container+": "+strings.TrimRight(line, "\n"))
			}
		}
	}
	return lines
}

// problemsOf returns why a pod does not run.
func problemsOf(pod unstructured.Unstructured) []podstate.Problem {
	var typed corev1.Pod
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(pod.Object, &typed); err != nil {
		return nil // a later version of the API
	}
	return podstate.Problems(&typed)
}
