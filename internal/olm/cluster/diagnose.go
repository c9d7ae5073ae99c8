package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

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
	lines := t.subscriptionState(ctx, subscription)
	lines = append(lines, t.planState(ctx, plan)...)
	lines = append(lines, t.csvState(ctx)...)
	for _, d := range t.deployments() {
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
	for _, c := range objects(o.Object, "status", "conditions") {
		if c["status"] == "True" && c["type"] != "InstallPlanPending" {
			lines = append(lines, conditionLine("Subscription "+name, c))
		}
	}
	return lines
}

func conditionLine(of string, c map[string]any) string {
	state := text(c, "type")
	if reason := text(c, "reason"); reason != "" {
		state += " (" + reason + ")"
	}
	return fmt.Sprintf("%s: %s: %s", of, state, text(c, "message"))
}

// planState describes the steps of an InstallPlan that OLM did not complete.
func (t *task) planState(ctx context.Context, name string) (lines []string) {
	if name == "" {
		return nil
	}
	o, err := t.get(ctx, installPlans, t.namespace, name)
	if err != nil || o == nil || text(o.Object, "status", "phase") == "Complete" {
		return nil
	}
	lines = append(lines, fmt.Sprintf("InstallPlan %s: phase %s", name, text(o.Object, "status", "phase")))
	for _, c := range objects(o.Object, "status", "conditions") {
		lines = append(lines, conditionLine("InstallPlan "+name, c))
	}
	for _, l := range objects(o.Object, "status", "bundleLookups") {
		for _, c := range objects(l, "conditions") {
			lines = append(lines, conditionLine("bundle "+text(l, "path"), c))
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
	lines := []string{fmt.Sprintf("%s: %s (%s): %s", name, text(o.Object, "status", "phase"), text(o.Object, "status", "reason"), text(o.Object, "status", "message"))}
	for _, r := range objects(o.Object, "status", "requirementStatus") {
		if status := text(r, "status"); status != "Present" && status != "PresentSatisfied" {
			lines = append(lines, fmt.Sprintf("%s needs %s %s: %s: %s", name, text(r, "kind"), text(r, "name"), status, text(r, "message")))
			for _, d := range objects(r, "dependents") {
				if text(d, "status") != "Satisfied" {
					lines = append(lines, fmt.Sprintf("%s needs %s: %s", name, text(d, "kind"), text(d, "message")))
				}
			}
		}
	}
	return lines
}

// deployments returns the Deployments in the ClusterServiceVersion.
func (t *task) deployments() []map[string]any {
	return objects(t.bundle.CSV.Object, "spec", "install", "spec", "deployments")
}

// podsOf returns the pods of a Deployment in the ClusterServiceVersion.
func (t *task) podsOf(ctx context.Context, deployment map[string]any) ([]unstructured.Unstructured, error) {
	want, _, _ := unstructured.NestedStringMap(deployment, "spec", "selector", "matchLabels")
	if len(want) == 0 {
		return nil, nil
	}
	return t.list(ctx, pods, t.namespace, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(want).String()})
}

// podProblem returns why a pod of the operator does not run, or "", and whether it will never
// run.
func (t *task) podProblem(ctx context.Context) (text string, final bool, err error) {
	for _, d := range t.deployments() {
		all, err := t.podsOf(ctx, d)
		if err != nil {
			return "", false, err
		}
		for _, p := range all {
			if problems := containerProblems(p); len(problems) > 0 {
				return fmt.Sprintf("pod %s: %s", p.GetName(), problems[0].text), problems[0].final, nil
			}
		}
	}
	return "", false, nil
}

// deploymentState describes the pods of a Deployment: their problems, events and logs.
func (t *task) deploymentState(ctx context.Context, deployment map[string]any) (lines []string) {
	name := text(deployment, "name")
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

// problem is what keeps a container from running.
type problem struct {
	container string // "" for the pod
	text      string
	ran       bool // the container has a log of an earlier run
	final     bool // the kubelet does not try again, or in vain
}

// containerProblems returns why a pod or its containers do not run.
func containerProblems(pod unstructured.Unstructured) (found []problem) {
	if c := condition(pod.Object, "PodScheduled"); c["status"] == "False" {
		found = append(found, problem{text: "it is not scheduled: " + text(c, "message")})
	}
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, s := range objects(pod.Object, "status", list) {
			if p, ok := containerProblem(s); ok {
				found = append(found, p)
			}
		}
	}
	return found
}

// containerProblem returns why a container does not run. ok is false if it does, or will.
func containerProblem(status map[string]any) (p problem, ok bool) {
	name := text(status, "name")
	waiting, ended := object(status, "state", "waiting"), object(status, "state", "terminated")
	if ended == nil {
		ended = object(status, "lastState", "terminated")
	}
	reason := text(waiting, "reason")
	code := number(ended, "exitCode")
	switch {
	case ended != nil && code != 0:
		return problem{container: name, text: fmt.Sprintf("container %s ended with code %d (%s)", name, code, cmp.Or(reason, text(ended, "reason"))), ran: true}, true
	case reason != "" && reason != "ContainerCreating" && reason != "PodInitializing":
		why := strings.TrimSuffix(fmt.Sprintf("container %s waits: %s: %s", name, reason, text(waiting, "message")), ": ")
		return problem{container: name, text: why, final: reason == "InvalidImageName" || reason == "ErrImageNeverPull"}, true
	}
	return problem{}, false
}

// stateOfPod describes a pod, before it is removed.
func (t *task) stateOfPod(ctx context.Context, name string) []string {
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
	lines = append(lines, fmt.Sprintf("%s: phase %s", name, cmp.Or(text(pod.Object, "status", "phase"), "Pending")))
	problems := containerProblems(pod)
	for _, p := range problems {
		lines = append(lines, name+": "+p.text)
	}
	lines = append(lines, t.warnings(ctx, pod)...)
	for _, p := range problems {
		if log, err := t.Logs(ctx, t.namespace, pod.GetName(), p.container, true); err == nil && p.ran {
			for line := range strings.Lines(log) {
				lines = append(lines, "log of "+p.container+": "+strings.TrimRight(line, "\n"))
			}
		}
	}
	return lines
}

// warnings returns the warnings about a pod in events, each once.
func (t *task) warnings(ctx context.Context, pod unstructured.Unstructured) (lines []string) {
	all, err := t.list(ctx, events, t.namespace, metav1.ListOptions{FieldSelector: "type=Warning,involvedObject.name=" + pod.GetName()})
	if err != nil {
		return nil
	}
	for _, e := range all {
		line := fmt.Sprintf("event of pod %s: %s: %s", pod.GetName(), text(e.Object, "reason"), text(e.Object, "message"))
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}
