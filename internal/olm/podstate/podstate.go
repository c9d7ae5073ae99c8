// Package podstate finds out why pods do not run: from their status and from events.
package podstate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Problem is what keeps a container from running, or made it fail.
type Problem struct {
	Container string // "" for the whole pod
	Text      string
	Ran       bool // the container has a log
	Final     bool // the kubelet does not try again, or tries in vain
}

// Problems returns the problems of a pod and of its containers, in the order in which they start.
func Problems(pod *corev1.Pod) []Problem {
	var found []Problem
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			found = append(found, Problem{Text: "it is not scheduled: " + cmp.Or(c.Message, c.Reason)})
		}
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if p := problemOf(status); p.Text != "" {
			found = append(found, p)
		}
	}
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" {
		found = append(found, Problem{Text: withMessage(pod.Status.Reason, pod.Status.Message), Final: true})
	}
	return found
}

// problemOf returns the problem of a container. The text is empty if it runs, or will.
func problemOf(status corev1.ContainerStatus) Problem {
	ended := cmp.Or(status.State.Terminated, status.LastTerminationState.Terminated)
	waiting := cmp.Or(status.State.Waiting, &corev1.ContainerStateWaiting{})
	reason := waiting.Reason
	switch {
	case ended != nil && ended.ExitCode != 0:
		text := fmt.Sprintf("container %s ended with code %d (%s)", status.Name, ended.ExitCode, cmp.Or(reason, ended.Reason, "Error"))
		return Problem{Container: status.Name, Text: text, Ran: true}
	case reason != "" && reason != "ContainerCreating" && reason != "PodInitializing":
		text := fmt.Sprintf("container %s waits: %s", status.Name, withMessage(reason, waiting.Message))
		return Problem{Container: status.Name, Text: text, Final: reason == "InvalidImageName" || reason == "ErrImageNeverPull"}
	}
	return Problem{}
}

// IsPull reports whether the text of a Problem says that the kubelet cannot pull an image.
func IsPull(text string) bool {
	return strings.Contains(text, "ErrImagePull") || strings.Contains(text, "ImagePullBackOff")
}

func withMessage(reason, message string) string {
	return strings.TrimSuffix(reason+": "+message, ": ")
}

// Warnings returns the warnings about an object in events, each once. It returns none if events cannot
// be read.
func Warnings(ctx context.Context, objects dynamic.Interface, about metav1.Object) []string {
	events, err := objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace(about.GetNamespace()).
		List(ctx, metav1.ListOptions{FieldSelector: "type=Warning,involvedObject.uid=" + string(about.GetUID())})
	if err != nil {
		return nil
	}
	var lines []string
	for _, event := range events.Items {
		reason, message := jsonvalue.String(event.Object, "reason"), jsonvalue.String(event.Object, "message")
		if line := "event " + withMessage(reason, message); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}
