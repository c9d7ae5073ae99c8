package kubectl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// scale sets the number of replicas.
func (r *runner) scale(ctx context.Context, args []string) error {
	if r.replicas < 0 {
		return errors.New("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0") //nolint:staticcheck // kubectl's words
	}
	if r.resourceVersion != "" {
		return errors.New("--resource-version of kubectl scale is not available in hook tests")
	}
	targets, err := r.targets(ctx, args, true)
	if err != nil {
		return err
	}
	return forEach(targets, func(t target) error {
		if !t.kind.HasSubresource("scale") {
			return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"}}
		}
		o, err := r.api.Get(ctx, t.kind, t.namespace, t.name)
		if err != nil {
			return err
		}
		if is, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas"); r.current >= 0 && is != int64(r.current) {
			return fmt.Errorf("Expected replicas to be %d, was %d", r.current, is) //nolint:staticcheck // kubectl's words
		}
		if o, err = r.api.Scale(ctx, t.kind, t.namespace, t.name, r.replicas); err != nil {
			return err
		}
		return r.report(t, o, "scaled", false)
	})
}

// restart sets the annotation that makes a controller replace Pods.
func (r *runner) restart(ctx context.Context, args []string) error {
	targets, err := r.targets(ctx, args, true)
	if err != nil {
		return err
	}
	return forEach(targets, func(t target) error {
		if t.kind.Group != "apps" || !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, t.kind.Kind) {
			return fmt.Errorf("%s %q restarting is not supported", t.kind, t.name)
		}
		o, err := r.api.Get(ctx, t.kind, t.namespace, t.name)
		if err != nil {
			return err
		}
		// The clock does not advance, but each restart must change the annotation.
		before, _, _ := unstructured.NestedString(o.Object, "spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt")
		body := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`, nextSecond(before))
		if o, err = r.api.Patch(ctx, t.kind, t.namespace, t.name, types.MergePatchType, []byte(body), ""); err != nil {
			return err
		}
		return r.report(t, o, "restarted", false)
	})
}

// nextSecond returns the second after a time, or the first second.
func nextSecond(stamp string) string {
	n := 0
	if len(stamp) == len("2020-01-01T00:00:00Z") {
		n, _ = strconv.Atoi(stamp[17:19])
	}
	return fmt.Sprintf("2020-01-01T00:00:%02dZ", (n+1)%60)
}
