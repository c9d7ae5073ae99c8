package scorecard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// podError is a test without a result.
type podError struct {
	lines []string // what happened, and what the cluster says about the pod
	log   string   // of the containers that ran
}

func (e *podError) Error() string { return strings.Join(e.lines, "; ") }

// explain adds what the cluster says about the pod of a test without a result. pod is its last
// known state, or nil.
func (p *Pods) explain(ctx context.Context, name string, pod *corev1.Pod, err error) error {
	found := &podError{lines: []string{err.Error()}}
	if errors.Is(ctx.Err(), context.Canceled) {
		return found // nobody waits for more
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if pod == nil {
		if pod, err = p.get(ctx, name); err != nil {
			return found
		}
	}
	found.lines = append(found.lines, problems(pod)...)
	found.lines = append(found.lines, p.warnings(ctx, name)...)
	for _, container := range []string{untarContainer, testContainer} {
		if state := containerState(pod, container); state == nil || state.Running == nil && state.Terminated == nil {
			continue
		}
		if log, err := p.Log(ctx, p.Namespace, name, container); err == nil {
			found.log += log
		}
	}
	return found
}

// problems returns what keeps the containers of a pod from running or made them fail.
func problems(pod *corev1.Pod) (lines []string) {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			lines = append(lines, "the pod is not scheduled: "+cmp.Or(c.Message, c.Reason))
		}
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		waiting, ended := status.State.Waiting, status.State.Terminated
		switch {
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing":
			lines = append(lines, strings.TrimSuffix(fmt.Sprintf("the container %s waits: %s: %s", status.Name, waiting.Reason, waiting.Message), ": "))
		case ended != nil && ended.ExitCode != 0:
			lines = append(lines, fmt.Sprintf("the container %s ended with code %d (%s)", status.Name, ended.ExitCode, cmp.Or(ended.Reason, "Error")))
		}
	}
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
		lines = append(lines, strings.TrimSuffix(pod.Status.Reason+": "+pod.Status.Message, ": "))
	}
	return lines
}

// containerState returns the state of a container, or nil if it is not known yet.
func containerState(pod *corev1.Pod, name string) *corev1.ContainerState {
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if status.Name == name {
			return &status.State
		}
	}
	return nil
}

// warnings returns the warnings about a pod in events, each once.
func (p *Pods) warnings(ctx context.Context, pod string) (lines []string) {
	events, err := p.Objects.Resource(eventResource).Namespace(p.Namespace).
		List(ctx, metav1.ListOptions{FieldSelector: "type=Warning,involvedObject.kind=Pod,involvedObject.name=" + pod})
	if err != nil {
		return nil
	}
	for _, event := range events.Items {
		reason, _, _ := unstructured.NestedString(event.Object, "reason")
		message, _, _ := unstructured.NestedString(event.Object, "message")
		if line := "event " + reason + ": " + message; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}
