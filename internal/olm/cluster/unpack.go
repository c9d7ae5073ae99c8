package cluster

import (
	"context"
	"slices"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/podstate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var jobs = resource{schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, "Job"}

// Labels of the Jobs that unpack bundles for OLM, and of the pods of Jobs.
const (
	unpackLabel = "operatorframework.io/bundle-unpack-ref"
	jobLabel    = "batch.kubernetes.io/job-name"
)

// unpackJobs returns the Jobs of OLM that unpack the image of the bundle. They are in the namespace of
// the catalog.
func (t *task) unpackJobs(ctx context.Context) []unstructured.Unstructured {
	if t.image == "" {
		return nil
	}
	all, err := t.list(ctx, jobs, t.namespace, metav1.ListOptions{LabelSelector: unpackLabel})
	if err != nil {
		return nil // the user may not read Jobs
	}
	return slices.DeleteFunc(all, func(job unstructured.Unstructured) bool {
		containers := jsonvalue.Maps(job.Object, "spec", "template", "spec", "initContainers")
		return !slices.ContainsFunc(containers, func(c map[string]any) bool { return c["image"] == t.image })
	})
}

// podsOfJob returns the pods of a Job.
func (t *task) podsOfJob(ctx context.Context, job unstructured.Unstructured) []unstructured.Unstructured {
	all, err := t.list(ctx, pods, t.namespace, metav1.ListOptions{LabelSelector: jobLabel + "=" + job.GetName()})
	if err != nil {
		return nil
	}
	return all
}

// unpackProblem returns why OLM does not unpack the image of the bundle, or "".
func (t *task) unpackProblem(ctx context.Context) string {
	for _, job := range t.unpackJobs(ctx) {
		all := t.podsOfJob(ctx, job)
		for _, pod := range all {
			if found := problemsOf(pod); len(found) > 0 {
				return "pod " + pod.GetName() + ": " + found[0].Text
			}
		}
		if found := podstate.Warnings(ctx, t.Objects, &job); len(all) == 0 && len(found) > 0 {
			return "Job " + job.GetName() + ": " + found[len(found)-1]
		}
	}
	return ""
}

// unpackState describes the Jobs that unpack the image of the bundle, and their pods.
func (t *task) unpackState(ctx context.Context) (lines []string) {
	for _, job := range t.unpackJobs(ctx) {
		if condition(job.Object, "Complete")["status"] == "True" {
			continue
		}
		if found := podstate.Warnings(ctx, t.Objects, &job); len(found) > 0 {
			lines = append(lines, "Job "+job.GetName()+": "+found[len(found)-1]) // the others say the same of other pods
		}
		for _, pod := range t.podsOfJob(ctx, job) {
			lines = append(lines, t.podState(ctx, pod)...)
		}
	}
	return lines
}
