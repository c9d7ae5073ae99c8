package hooktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/operon-dev/operon/internal/hooks/binding"
	"github.com/operon-dev/operon/internal/hooks/config"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// review calls a webhook as an API server does.
func (s *session) review(ctx context.Context, e Event) error {
	mutates := e.Type == "mutate"
	webhooks := s.hook.Config.Validating
	if mutates {
		webhooks = s.hook.Config.Mutating
	}
	place, err := s.bindingIndex(e, len(webhooks), func(i int) string { return webhooks[i].Name })
	if err != nil {
		return err
	}
	request, err := s.request(ctx, webhooks[place], e)
	if err != nil {
		return fmt.Errorf("an API server would not call the webhook: %w", err)
	}
	done, err := s.run(ctx, s.state.Admission(s.hook.Name, place, mutates, request))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	response := map[string]any{"allowed": false}
	switch {
	case err != nil:
		response["message"] = "Hook failed"
	case done.Admission == nil:
		response["message"] = "handle AdmissionReview: hook task prop error"
		s.note(errors.New("the hook wrote no response to $ADMISSION_RESPONSE_PATH"))
	default:
		response["allowed"] = done.Admission.Allowed
		if !done.Admission.Allowed {
			response["message"] = done.Admission.Message
		}
		if len(done.Admission.Warnings) > 0 {
			response["warnings"] = done.Admission.Warnings
		}
		if err := s.mutate(response, e, done.Admission.Patch); err != nil {
			s.note(fmt.Errorf("the patch in the response: %w", err))
		}
	}
	s.record(func(t *activity) { t.response = response })
	return nil
}

// mutate adds the patch and the patched object to the response that tests compare.
func (s *session) mutate(response map[string]any, e Event, patch []byte) error {
	if e.Request.Object == nil {
		return nil
	}
	response["object"] = e.Request.Object.Object
	if len(patch) == 0 {
		return nil
	}
	var operations any
	if err := json.Unmarshal(patch, &operations); err != nil {
		return err
	}
	response["patch"] = operations
	decoded, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return err
	}
	before, err := json.Marshal(e.Request.Object.Object)
	if err != nil {
		return err
	}
	after, err := decoded.Apply(before)
	if err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(after, &object); err != nil {
		return err
	}
	response["object"] = object
	return nil
}

// request returns the request that an API server sends. The error is the reason why it
// sends none.
func (s *session) request(ctx context.Context, a config.Admission, e Event) (map[string]any, error) {
	api := s.cluster.User()
	var c binding.Cluster
	for kind, apiVersion := range map[string]string{"Namespace": "v1", "CustomResourceDefinition": "apiextensions.k8s.io/v1"} {
		k, err := api.Kind(ctx, apiVersion, kind)
		if err != nil {
			return nil, err
		}
		list, err := api.List(ctx, k, "", metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			c = append(c, &list.Items[i])
		}
	}
	return c.Request(a, e.Request)
}

// bindingIndex returns the index of the binding that an event names, or of the only one.
func (s *session) bindingIndex(e Event, n int, name func(int) string) (int, error) {
	names := make([]string, n)
	for i := range names {
		names[i] = name(i)
	}
	i := slices.Index(names, e.Binding)
	switch {
	case e.Binding == "" && n == 1:
		return 0, nil
	case e.Binding == "" && n > 1:
		return 0, fmt.Errorf("%s matches several bindings: add binding: %s", e.Type, strings.Join(names, " or "))
	case n == 0:
		return 0, fmt.Errorf("%s has no binding for %s", s.hook.Name, e.Type)
	case i < 0:
		return 0, fmt.Errorf("%s has no binding %q for %s; it has %s", s.hook.Name, e.Binding, e.Type, strings.Join(names, ", "))
	default:
		return i, nil
	}
}
