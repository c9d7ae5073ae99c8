package scorecard

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/olm/podstate"
	corev1 "k8s.io/api/core/v1"
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
		return found // no caller waits for more
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if pod == nil {
		if pod, err = p.get(ctx, name); err != nil {
			return found
		}
	}
	for _, problem := range podstate.Problems(pod) {
		found.lines = append(found.lines, problem.Text)
	}
	found.lines = append(found.lines, podstate.Warnings(ctx, p.Objects, pod)...)
	if state := containerState(pod, testContainer); state != nil && state.Running != nil {
		found.lines = append(found.lines, "container "+testContainer+" is running")
	}
	for _, container := range []string{untarContainer, testContainer} {
		state := containerState(pod, container)
		if state == nil || state.Running == nil && state.Terminated == nil || container == untarContainer && succeeded(state) {
			continue
		}
		if log, err := p.Log(ctx, p.Namespace, name, container); err == nil {
			found.log += log
		}
	}
	return found
}

func succeeded(state *corev1.ContainerState) bool {
	return state.Terminated != nil && state.Terminated.ExitCode == 0
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
