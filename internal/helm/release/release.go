// Package release installs, upgrades and uninstalls releases of charts for custom resources, as
// helm-operator and helm-operator-plugins do, with the requests that they and Helm send to the API
// server.
//
// Helm's own packages register all types of Kubernetes at each start of the program, which takes longer
// than most commands. What this package leaves out:
//   - waiting: hooks succeed at once, and nothing makes objects ready
//   - the content of the Secrets that store releases
//   - conditions in the status of custom resources
//   - RSA keys that templates generate, which take long: they get elliptic ones
package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/jsonvalue"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// finalizer keeps a custom resource until its release is uninstalled.
const finalizer = "uninstall-helm-release"

// Manager manages the releases of a chart, one for each custom resource of a kind.
type Manager struct {
	Chart     *helmchart.Chart
	Folder    string                                       // of the chart, for messages
	Overrides map[string]any                               // values that no custom resource can change
	API       kubeapi.Client                               // with the permissions of the operator
	Cluster   func(context.Context) (chart.Cluster, error) // for .Capabilities
	// Watch watches the objects of a kind after a release of the chart has one. nil watches none.
	Watch func(context.Context, kubeapi.Kind) error

	releases map[types.UID]*release
}

// release is a deployed revision of a release.
type release struct {
	name, namespace string
	revision        int
	objects         []object // in the order of installation
	hooks           []hook
}

// Reconcile installs or upgrades the release of a custom resource, or uninstalls it if the resource is
// being deleted. After an error, the cluster has the objects of before, as far as possible.
func (m *Manager) Reconcile(ctx context.Context, o *unstructured.Unstructured) error {
	before := m.releases[o.GetUID()]
	if o.GetDeletionTimestamp() != nil {
		return m.end(ctx, o, before)
	}
	o, err := m.setFinalizers(ctx, o, append(o.GetFinalizers(), finalizer))
	if err != nil {
		return err
	}
	next, err := m.next(ctx, o, before)
	if err != nil {
		return err
	}
	switch {
	case before == nil:
		err = m.install(ctx, next)
	case reflect.DeepEqual(before.objects, next.objects):
		return nil
	default:
		err = m.upgrade(ctx, before, next)
	}
	if err != nil {
		return err
	}
	if m.releases == nil {
		m.releases = map[types.UID]*release{}
	}
	m.releases[o.GetUID()] = next
	for _, object := range next.objects {
		if m.Watch == nil {
			break
		}
		if err := m.Watch(ctx, object.kind); err != nil {
			return fmt.Errorf("%s: %w", object, err)
		}
	}
	return m.report(ctx, o)
}

// next renders the next revision of a release. before may be nil.
func (m *Manager) next(ctx context.Context, o *unstructured.Unstructured, before *release) (*release, error) {
	spec, isObject := o.Object["spec"].(map[string]any)
	if !isObject {
		return nil, errors.New("spec is missing: it has the values of the chart, so write spec: {} for the defaults")
	}
	values, _ := jsonvalue.Clone(spec).(map[string]any)
	jsonvalue.Merge(values, m.Overrides)
	next := &release{name: o.GetName(), namespace: o.GetNamespace(), revision: 1}
	if before != nil {
		next.revision = before.revision + 1
	}
	if before == nil {
		if err := m.installCRDs(ctx); err != nil {
			return nil, err
		}
	}
	cluster, err := m.Cluster(ctx)
	if err != nil {
		return nil, err
	}
	if err := chart.CheckVersion(m.Chart, cluster.Version); err != nil {
		return nil, m.located(err)
	}
	renderer := chart.Renderer{Lookup: m.lookup(ctx), ReuseKeys: true} // each revision has new keys
	files, err := renderer.Render(m.Chart, values, chart.Release{Name: next.name, Namespace: next.namespace, Upgrade: before != nil}, cluster)
	if err != nil {
		return nil, m.located(err)
	}
	return next, m.build(ctx, o, next, files)
}

// located returns an error of the chart with its path in the project.
func (m *Manager) located(err error) error {
	err, _ = chart.InFolder(m.Folder, err)
	return err
}

// maxName is the length that Helm allows for the name of a release.
const maxName = 53

// install installs the first revision of a release.
func (m *Manager) install(ctx context.Context, next *release) error {
	if len(next.name) > maxName {
		return fmt.Errorf("the name of a release has at most %d characters, and this one has %d", maxName, len(next.name))
	}
	err := m.checkOwnership(ctx, nil, next)
	if err != nil {
		return err
	}
	if err = m.runHooks(ctx, next, "pre-install"); err == nil {
		err = m.apply(ctx, nil, next.objects)
	}
	if err == nil {
		err = m.runHooks(ctx, next, "post-install")
	}
	if err == nil {
		err = m.store(ctx, next)
	}
	if err != nil {
		_ = m.apply(ctx, next.objects, nil) // the first error is the reason
	}
	return err
}

// upgrade replaces a revision of a release by the next one.
func (m *Manager) upgrade(ctx context.Context, before, next *release) error {
	err := m.checkOwnership(ctx, before, next)
	if err != nil {
		return err
	}
	if err = m.runHooks(ctx, next, "pre-upgrade"); err == nil {
		err = m.apply(ctx, before.objects, next.objects)
	}
	if err == nil {
		err = m.runHooks(ctx, next, "post-upgrade")
	}
	if err == nil {
		err = cmp.Or(m.supersede(ctx, before), m.store(ctx, next))
	}
	if err != nil {
		_ = m.apply(ctx, next.objects, before.objects) // the first error is the reason
	}
	return err
}

// end uninstalls a release, which may be nil, and lets the API server delete the custom resource.
func (m *Manager) end(ctx context.Context, o *unstructured.Unstructured, r *release) error {
	if !slices.Contains(o.GetFinalizers(), finalizer) {
		return nil
	}
	if r != nil {
		err := m.runHooks(ctx, r, "pre-delete")
		if err == nil {
			err = m.apply(ctx, r.objects, nil)
		}
		if err == nil {
			err = m.runHooks(ctx, r, "post-delete")
		}
		if err == nil {
			err = m.forget(ctx, r)
		}
		if err != nil {
			return err
		}
		delete(m.releases, o.GetUID())
	}
	_, err := m.setFinalizers(ctx, o, slices.DeleteFunc(o.GetFinalizers(), func(name string) bool { return name == finalizer }))
	return err
}

// setFinalizers updates the finalizers of a custom resource.
func (m *Manager) setFinalizers(ctx context.Context, o *unstructured.Unstructured, names []string) (*unstructured.Unstructured, error) {
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == len(o.GetFinalizers()) {
		return o, nil
	}
	k, err := m.API.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil {
		return nil, err
	}
	o = o.DeepCopy()
	o.SetFinalizers(names)
	updated, err := m.API.Update(ctx, k, o, "")
	if err != nil {
		return nil, fmt.Errorf("update the finalizers: %w", err)
	}
	return updated, nil
}

// report writes the name of the release to the status of a custom resource.
func (m *Manager) report(ctx context.Context, o *unstructured.Unstructured) error {
	k, err := m.API.Kind(ctx, o.GetAPIVersion(), o.GetKind())
	if err != nil || !k.HasSubresource("status") {
		return err
	}
	o = o.DeepCopy()
	o.Object["status"] = map[string]any{"deployedRelease": map[string]any{"name": o.GetName()}}
	if _, err := m.API.Update(ctx, k, o, "status"); err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	return nil
}
