package hooktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/hooks/output"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// trigger triggers an event and waits until all resulting tasks are done.
func (s *session) trigger(ctx context.Context, e Event) error {
	s.step = activity{}
	clear(s.failed)
	err := s.snapshotObjects(ctx)
	if err != nil {
		return err
	}
	switch e.Type {
	case "apply", "delete", "patch":
		if e.Type == "delete" && isNamespace(e.Object) {
			err = s.deleteNamespace(ctx, e)
		} else {
			err = s.change(ctx, e)
		}
		if err == nil {
			err = s.snapshotObjects(ctx) // the change by the test is not one by the hook
		}
	case "schedule":
		err = s.tick(e.Schedule)
	case "validate", "mutate":
		err = s.review(ctx, e)
	case "convert":
		err = s.convert(ctx, e)
	case "retry": // clearing s.failed is enough
	default:
		err = s.runStep(ctx, e.Type)
	}
	if err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	return s.recordChanges(ctx)
}

// deleteNamespace deletes a namespace in two steps. First its objects are deleted: hooks run
// and still see the namespace, where they can create nothing. Then the namespace is gone, and
// failed runs are repeated.
func (s *session) deleteNamespace(ctx context.Context, e Event) error {
	release, err := s.cluster.HoldNamespace(ctx, e.Object.GetName())
	if err != nil {
		return err
	}
	if err := s.change(ctx, e); err != nil {
		return err
	}
	if err := s.snapshotObjects(ctx); err != nil {
		return err
	}
	if err := s.settle(ctx); err != nil {
		return err
	}
	clear(s.failed)
	if err := s.recordChanges(ctx); err != nil {
		return err
	}
	return release(ctx)
}

func (s *session) change(ctx context.Context, e Event) error {
	api, o := s.cluster.User(), e.Object
	kind, err := api.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return err
	}
	if kind.Namespaced && o.GetNamespace() == "" {
		return fmt.Errorf("%s %s has no metadata.namespace", o.GetKind(), o.GetName())
	}
	switch e.Type {
	case "delete":
		return api.Delete(ctx, kind, o.GetNamespace(), o.GetName(), "Background")
	case "patch":
		body, err := json.Marshal(o.Object)
		if err != nil {
			return err
		}
		_, err = api.Patch(ctx, kind, o.GetNamespace(), o.GetName(), "application/merge-patch+json", body, "")
		return err
	}
	if err := s.namespace(ctx, o.GetNamespace()); err != nil {
		return err
	}
	user := kubeapi.Applier{Client: api, Wait: s.cluster.Wait}
	return errors.Unwrap(unjoined(user.Apply(ctx, []output.Operation{{Operation: "CreateOrUpdate", Object: o.Object}})))
}

// namespace creates the namespace of an object unless it exists.
func (s *session) namespace(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	api := s.cluster.User()
	kind, err := api.Kind(ctx, "v1", "Namespace")
	if err != nil {
		return err
	}
	_, err = api.Create(ctx, kind, newNamespace(name))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// unjoined returns the only error of a joined error with one element.
func unjoined(err error) error {
	if list, joined := err.(interface{ Unwrap() []error }); joined && len(list.Unwrap()) == 1 {
		return list.Unwrap()[0]
	}
	return err
}

func (s *session) tick(name string) error {
	var names []string
	for _, b := range s.hook.Config.Schedule {
		if b.BindingName() == name {
			if !s.state.Tick(b.Crontab) {
				return errors.New("the engine has not enabled the schedules: a failing task blocks the main queue")
			}
			return nil
		}
		names = append(names, b.BindingName())
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no schedules", s.hook.Name)
	}
	return fmt.Errorf("%s has no schedule %q; it has %s", s.hook.Name, name, strings.Join(names, ", "))
}
