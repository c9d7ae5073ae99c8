//go:build testall

package e2e

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/operon-dev/operon/internal/hooks/kubeapi"
)

// installation is a project that is installed on a control plane.
type installation struct {
	*project
	cluster   *controlPlane
	namespace string // of the manager
	prefix    string // of all names
	folder    string // the installed copy of config/
	certs     string // the folder with tls.crt and tls.key of the webhook server
	selfCerts bool   // the manager makes its certificates
	service   *service
	objects   []*unstructured.Unstructured
}

// install builds config/default with the kustomize library and applies it with a namespace
// and a prefix of its own. Webhooks and conversions call the manager on this machine: a URL
// replaces their service, with a CA of the tests. Changes edit the copy of config/ before
// it is built.
//
// CRDs and webhook configurations belong to the whole cluster, so the tests of one project
// are subtests that share an installation.
func install(t *testing.T, c *controlPlane, p *project, changes ...func(config string)) *installation {
	t.Helper()
	c.provideExternalCRDs(t)
	_, err := os.Stat(filepath.Join(p.dir, "config", "certificates"))
	i := &installation{
		project: p, cluster: c, folder: filepath.Join(t.TempDir(), "config"), certs: t.TempDir(), selfCerts: err == nil,
	}
	id := p.name
	if i.selfCerts {
		id = "webhook-service" // the manager derives names from its Service's
	}
	id += "-" + strings.ToLower(rand.Text()[:6])
	i.namespace, i.prefix = id+"-system", id+"-"
	if err := os.CopyFS(i.folder, os.DirFS(filepath.Join(p.dir, "config"))); err != nil {
		t.Fatal(err)
	}
	i.rename(t)
	for _, change := range changes {
		change(i.folder)
	}
	i.service = serve(t)
	if !i.selfCerts {
		authority().certify(t, i.certs)
	}
	i.objects = i.build(t, "default")
	slices.SortStableFunc(i.objects, func(a, b *unstructured.Unstructured) int { return cmp.Compare(rank(a), rank(b)) })
	i.awaitNoCRDs(t)
	t.Cleanup(func() { i.remove(t) })
	c.apply(t, i.objects...)
	i.awaitKinds(t)
	i.awaitPermissions(t)
	if i.selfCerts {
		i.keepMounted(t)
	}
	return i
}

// awaitPermissions waits until the API server grants what the ClusterRoleBindings say. It learns
// of new bindings a moment after it has stored them.
func (i *installation) awaitPermissions(t *testing.T) {
	t.Helper()
	for _, o := range ofKind(i.objects, "ClusterRoleBinding") {
		var binding rbacv1.ClusterRoleBinding
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &binding); err != nil {
			t.Fatal(err)
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(i.named(t, "ClusterRole", strings.TrimPrefix(binding.RoleRef.Name, i.prefix)).Object, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			if len(rule.Resources) == 0 || len(rule.ResourceNames) > 0 {
				continue
			}
			i.awaitPermission(t, true, binding.Subjects[0].Name, authorizationv1.ResourceAttributes{
				Group: rule.APIGroups[0], Resource: rule.Resources[0], Verb: rule.Verbs[0],
			})
			break
		}
	}
}

// awaitPermission waits until the API server grants a permission to a ServiceAccount in the
// namespace of the manager, or denies it.
func (i *installation) awaitPermission(t *testing.T, granted bool, account string, permission authorizationv1.ResourceAttributes) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:" + i.namespace + ":" + account, ResourceAttributes: &permission,
	}}
	eventually(t, fmt.Sprintf("set the permission to %s %s to %t", permission.Verb, permission.Resource, granted), func() error {
		answer, err := i.cluster.client.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err == nil && answer.Status.Allowed != granted {
			err = fmt.Errorf("allowed: %t %s", answer.Status.Allowed, answer.Status.Reason)
		}
		return err
	})
}

// rename sets the namespace and the prefix of the installation in the file that a user would
// edit.
func (i *installation) rename(t *testing.T) {
	t.Helper()
	name := filepath.Join(i.folder, "default", "kustomization.yaml")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"namespace": i.namespace, "namePrefix": i.prefix} {
		line := regexp.MustCompile(`(?m)^` + key + `: .*$`)
		if len(line.FindAll(content, -1)) != 1 {
			t.Fatalf("%s must have one line that begins with %q", name, key)
		}
		content = line.ReplaceAll(content, []byte(key+": "+value))
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// build runs kustomize on a folder of the installed config/. Webhooks call this machine.
func (i *installation) build(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	all := kustomized(t, filesys.MakeFsOnDisk(), filepath.Join(i.folder, folder))
	for _, o := range all {
		i.redirect(t, o)
	}
	return all
}

// rank is the order of installation: objects that others need come first, and those for
// which the API server calls the manager come last.
func rank(o *unstructured.Unstructured) int {
	switch o.GetKind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		return 3
	}
	return 2
}

// awaitNoCRDs waits until the CRDs of an earlier run on the same control plane are deleted. A
// failed run may leave objects with finalizers, which keep them.
func (i *installation) awaitNoCRDs(t *testing.T) {
	t.Helper()
	for _, crd := range ofKind(i.objects, "CustomResourceDefinition") {
		eventually(t, "delete the "+crd.GetName()+" of an earlier run (or start another control plane)", func() error {
			if old, err := i.cluster.get(t, crd); err == nil && old.GetDeletionTimestamp() != nil {
				return fmt.Errorf("its conditions are %v", at(old, "status", "conditions"))
			}
			return nil
		})
	}
}

// awaitKinds waits until the API server serves the installed kinds.
func (i *installation) awaitKinds(t *testing.T) {
	t.Helper()
	for _, o := range i.objects {
		if o.GetKind() == "CustomResourceDefinition" {
			eventually(t, "serve "+o.GetName(), func() error { return i.cluster.established(t, o) })
		}
	}
}

func (c *controlPlane) established(t *testing.T, crd *unstructured.Unstructured) error {
	t.Helper()
	now, err := c.get(t, crd)
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(now.Object, "status", "conditions")
	for _, condition := range conditions {
		if m, ok := condition.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
			if !kubeapi.SameCRDVersions(crd, now) {
				return fmt.Errorf("the API server has changed its versions: %v", now.Object["spec"])
			}
			return nil
		}
	}
	return fmt.Errorf("its conditions are %v", conditions)
}

// remove deletes the installation. It begins with the webhooks, because their manager has
// ended.
func (i *installation) remove(t *testing.T) {
	for _, o := range slices.Backward(i.objects) {
		resource, err := i.cluster.find(o)
		if err == nil {
			err = resource.Delete(context.WithoutCancel(t.Context()), o.GetName(), background)
		}
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("delete %s %s: %v", o.GetKind(), o.GetName(), err)
		}
	}
}

// named returns an installed object, given its name without the prefix.
func (i *installation) named(t *testing.T, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range i.objects {
		if o.GetKind() == kind && o.GetName() == i.prefix+name {
			return o
		}
	}
	t.Fatalf("config/default has no %s %s", kind, name)
	return nil
}
