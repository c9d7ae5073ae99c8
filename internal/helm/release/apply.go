package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/jsonvalue"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// apply replaces the objects of a revision by the objects of the next one.
func (m *Manager) apply(ctx context.Context, before, next []object) error {
	for _, o := range next {
		was := o
		if i := slices.IndexFunc(before, o.same); i >= 0 {
			was = before[i]
		}
		if err := m.put(ctx, was, o); err != nil {
			return fmt.Errorf("%s: %w", o, err)
		}
	}
	for _, o := range slices.Backward(before) {
		if o.isKept() || slices.ContainsFunc(next, o.same) {
			continue
		}
		if err := m.remove(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// put creates an object, or patches what has changed since the previous revision.
func (m *Manager) put(ctx context.Context, was, o object) error {
	existing, err := m.API.Get(ctx, o.kind, o.GetNamespace(), o.GetName())
	if apierrors.IsNotFound(err) {
		_, err = m.API.Create(ctx, o.kind, o.Unstructured)
	}
	if err != nil || existing == nil {
		return err
	}
	var texts [3][]byte
	for i, state := range []*unstructured.Unstructured{was.Unstructured, o.Unstructured, existing} {
		if texts[i], err = json.Marshal(state.Object); err != nil {
			return err
		}
	}
	form, content, err := threeWayPatch(o.kind, texts[0], texts[1], texts[2])
	if err != nil || string(content) == "{}" {
		return err
	}
	_, err = m.API.Patch(ctx, o.kind, o.GetNamespace(), o.GetName(), form, content, "")
	return err
}

// threeWayPatch returns the patch that Helm sends: was is the object of the previous revision, want the object of this
// one, and is the object on the server.
func threeWayPatch(k kubeapi.Kind, was, want, is []byte) (types.PatchType, []byte, error) {
	typed := kubeapi.NewTyped(k.GVK())
	if typed == nil {
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(was, want, is)
		return types.MergePatchType, patch, err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return "", nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(was, want, is, meta, true)
	return types.StrategicMergePatchType, patch, err
}

// remove deletes an object, if it exists.
func (m *Manager) remove(ctx context.Context, o object) error {
	err := m.API.Delete(ctx, o.kind, o.GetNamespace(), o.GetName(), metav1.DeletePropagationBackground)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("%s: %w", o, err)
	}
	return nil
}

// checkOwnership returns an error for a new object that exists and does not belong to the release.
func (m *Manager) checkOwnership(ctx context.Context, before, next *release) error {
	for _, o := range next.objects {
		if before != nil && slices.ContainsFunc(before.objects, o.same) {
			continue
		}
		existing, err := m.API.Get(ctx, o.kind, o.GetNamespace(), o.GetName())
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o, err)
		}
		for _, name := range []string{"meta.helm.sh/release-name", "meta.helm.sh/release-namespace"} {
			if existing.GetAnnotations()[name] != o.GetAnnotations()[name] {
				return fmt.Errorf("%s exists, and does not belong to the release", o)
			}
		}
	}
	return nil
}

// runHooks runs the hooks of a release for an event. They succeed as soon as they are created.
func (m *Manager) runHooks(ctx context.Context, r *release, event string) error {
	var done []hook
	for _, h := range r.hooks {
		if !slices.Contains(h.events, event) {
			continue
		}
		if len(h.deletePolicies) == 0 || slices.Contains(h.deletePolicies, "before-hook-creation") {
			if err := m.removeHook(ctx, h); err != nil {
				return err
			}
		}
		if _, err := m.API.Create(ctx, h.kind, h.Unstructured); err != nil {
			return fmt.Errorf("%s, hook %s: %w", h, event, err)
		}
		done = append(done, h)
	}
	for _, h := range done {
		if slices.Contains(h.deletePolicies, "hook-succeeded") {
			if err := m.removeHook(ctx, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeHook deletes a hook. Helm never deletes CRDs.
func (m *Manager) removeHook(ctx context.Context, h hook) error {
	if kubeapi.IsCRD(h.kind.GVK()) {
		return nil
	}
	return m.remove(ctx, h.object)
}

// installCRDs creates the CRDs in the folders crds that do not exist.
func (m *Manager) installCRDs(ctx context.Context) error {
	for _, file := range m.Chart.CRDObjects() {
		all, err := chart.Objects(map[string]string{file.Filename: string(file.File.Data)})
		if err != nil {
			return m.located(err)
		}
		for _, crd := range all {
			k, err := m.API.Kind(ctx, crd.GetAPIVersion(), crd.GetKind())
			if err == nil {
				_, err = m.API.Create(ctx, k, crd)
			}
			if apierrors.IsAlreadyExists(err) {
				continue
			}
			if err == nil {
				err = m.awaitCRD(ctx, k, crd)
			}
			if err != nil {
				return fmt.Errorf("%s: %s %s: %w", file.Filename, crd.GetKind(), crd.GetName(), err)
			}
		}
	}
	return nil
}

// awaitCRD waits until the API server serves the kind of a new CRD.
func (m *Manager) awaitCRD(ctx context.Context, k kubeapi.Kind, crd *unstructured.Unstructured) error {
	const limit = time.Minute // as Helm
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the API server does not serve CRD %s within %s", crd.GetName(), limit))
	defer cancel()
	versions, err := kubeapi.ReadCRD(crd)
	if err != nil {
		return err
	}
	for {
		existing, err := m.API.Get(ctx, k, "", crd.GetName())
		if err != nil {
			return err
		}
		established := slices.ContainsFunc(jsonvalue.Maps(existing.Object, "status", "conditions"), func(c map[string]any) bool {
			return c["type"] == "Established" && c["status"] == "True"
		})
		if _, err = m.API.Kind(ctx, versions[0].APIVersion(), versions[0].Kind); err == nil && established {
			return nil
		}
		if err := kubeapi.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// lookup returns the function lookup of templates.
func (m *Manager) lookup(ctx context.Context) func(apiVersion, kind, namespace, name string) (map[string]any, error) {
	return func(apiVersion, kind, namespace, name string) (map[string]any, error) {
		k, err := m.API.Kind(ctx, apiVersion, kind)
		if err != nil {
			return nil, err
		}
		if name == "" {
			all, err := m.API.List(ctx, k, namespace, metav1.ListOptions{})
			if err != nil {
				return nil, err
			}
			return all.UnstructuredContent(), nil
		}
		o, err := m.API.Get(ctx, k, namespace, name)
		if apierrors.IsNotFound(err) {
			return map[string]any{}, nil
		}
		if err != nil {
			return nil, err
		}
		return o.Object, nil
	}
}

// secretKind is the kind of the objects that store releases.
var secretKind = kubeapi.Kind{Version: "v1", Kind: "Secret", Resource: "secrets", Namespaced: true}

func secretName(r *release, revision int) string {
	return "sh.helm.release.v1." + r.name + ".v" + strconv.Itoa(revision)
}

// store stores a revision of a release.
func (m *Manager) store(ctx context.Context, r *release) error {
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1"}}
	secret.SetNamespace(r.namespace)
	secret.SetName(secretName(r, r.revision))
	secret.SetLabels(map[string]string{"name": r.name, "owner": "helm", "status": "deployed", "version": strconv.Itoa(r.revision)})
	_, err := m.API.Create(ctx, secretKind, secret)
	return inStorage(err)
}

// supersede marks a stored revision as a former one.
func (m *Manager) supersede(ctx context.Context, r *release) error {
	secret, err := m.API.Get(ctx, secretKind, r.namespace, secretName(r, r.revision))
	if err != nil {
		return inStorage(err)
	}
	secret.SetLabels(with(secret.GetLabels(), "status", "superseded"))
	_, err = m.API.Update(ctx, secretKind, secret, "")
	return inStorage(err)
}

// forget deletes all stored revisions of a release.
func (m *Manager) forget(ctx context.Context, r *release) error {
	var errs []error
	for revision := range r.revision {
		errs = append(errs, inStorage(m.API.Delete(ctx, secretKind, r.namespace, secretName(r, revision+1), metav1.DeletePropagationBackground)))
	}
	return errors.Join(errs...)
}

// inStorage adds to an error that it is about the Secret of a release.
func inStorage(err error) error {
	if err == nil || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("store the release: %w", err)
}
