//go:build testall

package e2e

import (
	"bufio"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// testSecurity checks the permissions and the pod security of an installed project.
func testSecurity(t *testing.T, c *controlPlane, dir string, project filesys.FileSystem, all []*unstructured.Unstructured) {
	namespace := ofKind(all, "Namespace")[0].GetName()
	account := ofKind(all, "ServiceAccount")[0].GetName()
	record, err := os.ReadFile(filepath.Join(dir, "PROJECT"))
	if err != nil {
		t.Fatal(err)
	}
	limited := strings.Contains(string(record), "\nnamespaced: true\n") // the manager is limited to namespaces
	permissions := testPermissions
	charts := hasLayout(t, dir, helmLayout)
	switch {
	case charts:
		permissions = testChartPermissions
	case hasLayout(t, dir, shellLayout):
		permissions = testHookPermissions
	}
	t.Run("permissions", func(t *testing.T) { permissions(t, c, dir, namespace, account) })
	if limited {
		t.Run("further namespace", func(t *testing.T) { testFurtherNamespace(t, c, dir, project, namespace, account) })
	}
	t.Run("forbidden", func(t *testing.T) { testForbidden(t, c, namespace, account, charts) })
	t.Run("user roles", func(t *testing.T) { testUserRoles(t, c, all) })
	t.Run("pod", func(t *testing.T) { testRestrictedPod(t, c, namespace, !limited, all) })
}

// permissions are the permissions of a user, in the form "verb group/resource", "verb
// group/resource/name" for a single object, or "verb /path".
type permissions map[string]bool

func (p permissions) add(groups, resources, verbs []string) {
	for _, group := range groups {
		for _, resource := range resources {
			for _, verb := range verbs {
				p[verb+" "+group+"/"+resource] = true
			}
		}
	}
}

func (p permissions) and(more permissions) permissions {
	both := maps.Clone(p)
	maps.Copy(both, more)
	return both
}

// testPermissions checks that the ServiceAccount of the manager has exactly the permissions
// in the markers of the Go files, and those in config/rbac for leader election and metrics.
func testPermissions(t *testing.T, c *controlPlane, dir, namespace, account string) {
	here, anywhere := markers(t, dir, namespace)
	anywhere.add([]string{"authentication.k8s.io"}, []string{"tokenreviews"}, []string{"create"})
	anywhere.add([]string{"authorization.k8s.io"}, []string{"subjectaccessreviews"}, []string{"create"})
	here.add([]string{"coordination.k8s.io"}, []string{"leases"}, []string{"create", "get", "update"})
	here.add([]string{"", "events.k8s.io"}, []string{"events"}, []string{"create", "patch"})
	addCertificates(t, dir, namespace, here, anywhere)
	manager, nobody := serviceAccount(t, c, namespace, account), serviceAccount(t, c, "system", "nobody")
	wantRules(t, manager, nobody, namespace, here.and(anywhere))
	wantRules(t, manager, nobody, "default", anywhere)
}

// addCertificates adds the permissions of a manager that issues the certificates of its
// webhooks: in its namespace, and anywhere.
func addCertificates(t *testing.T, dir, namespace string, here, anywhere permissions) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "config", "certificates")); err != nil {
		return
	}
	name := strings.TrimSuffix(namespace, "-system")
	watch, update := []string{"list", "watch"}, []string{"update"}
	here.add([]string{""}, []string{"secrets"}, watch)
	here.add([]string{""}, []string{"secrets/" + name + "-webhook-server-cert"}, []string{"get", "update"})
	configurations := []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
	group := []string{"admissionregistration.k8s.io"}
	anywhere.add(group, configurations, watch)
	for _, resource := range configurations {
		for _, prefix := range []string{"mutating", "validating"} {
			anywhere.add(group, []string{resource + "/" + name + "-" + prefix + "-webhook-configuration"}, update)
		}
	}
	group = []string{"apiextensions.k8s.io"}
	anywhere.add(group, []string{"customresourcedefinitions"}, watch)
	for _, crd := range objectsOf(t, filepath.Join(dir, "config/crd/bases/*.yaml")) {
		anywhere.add(group, []string{"customresourcedefinitions/" + crd.GetName()}, update)
	}
}

// testFurtherNamespace follows the README of a manager that is limited to namespaces, and
// adds a namespace.
func testFurtherNamespace(t *testing.T, c *controlPlane, dir string, project filesys.FileSystem, namespace, account string) {
	const name = "config/watch/team-a/kustomization.yaml"
	text := readmeBlock(t, dir, name)
	if err := project.WriteFile(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
	c.apply(t, objects(t, "{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}")...)
	grants := kustomized(t, project, filepath.Dir(name))
	c.apply(t, grants...)
	defer c.remove(t, grants)

	here, anywhere := markers(t, dir, namespace)
	anywhere.add([]string{"authentication.k8s.io"}, []string{"tokenreviews"}, []string{"create"})
	anywhere.add([]string{"authorization.k8s.io"}, []string{"subjectaccessreviews"}, []string{"create"})
	addCertificates(t, dir, namespace, permissions{}, anywhere)
	manager, nobody := serviceAccount(t, c, namespace, account), serviceAccount(t, c, "system", "nobody")
	wantRules(t, manager, nobody, "team-a", here.and(anywhere))
	wantRules(t, manager, nobody, "default", anywhere)
}

// TestWebhooksOfFurtherNamespace follows the README of a manager that is limited to namespaces, until its webhooks
// are called for the objects of one more namespace.
func TestWebhooksOfFurtherNamespace(t *testing.T) {
	t.Parallel()
	const name, added = "config/webhook/kustomization.yaml", "config/default/webhook_replacements.yaml"
	dir := filepath.Join("..", "..", "testdata", "golden", "fleet")
	project := inMemory(t, dir)
	check := func(want map[string]any) {
		t.Helper()
		all := ofKind(kustomized(t, project, "config/default"), "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
		if len(all) != 2 {
			t.Fatalf("fleet has %d webhook configurations", len(all))
		}
		for _, configuration := range all {
			first := configuration.Object["webhooks"].([]any)[0].(map[string]any)
			if diff := gocmp.Diff(want, first["namespaceSelector"]); diff != "" {
				t.Errorf("%s: -want +got:\n%s", configuration.GetKind(), diff)
			}
		}
	}
	check(map[string]any{"matchLabels": map[string]any{corev1.LabelMetadataName: "fleet-system"}})
	replacements := string(must(project.ReadFile(added)))
	limit := replacements[strings.Index(replacements, "# Limits the webhooks"):strings.Index(replacements, "# Copies the namespace and")]
	replace(t, project, added, limit, "")
	kustomization := must(project.ReadFile(name))
	if err := project.WriteFile(name, append(kustomization, readmeBlock(t, dir, name)...)); err != nil {
		t.Fatal(err)
	}
	check(map[string]any{"matchExpressions": []any{map[string]any{
		"key": corev1.LabelMetadataName, "operator": "In", "values": []any{"fleet-system", "team-a"},
	}}})
}

// readmeBlock returns the YAML that the README of a project shows for a file.
func readmeBlock(t *testing.T, dir, name string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(readme), "`"+name+"`")
	if !found {
		t.Fatalf("the README does not describe %s", name)
	}
	_, text, _ = strings.Cut(text, "```yaml\n")
	text, _, _ = strings.Cut(text, "```")
	return text
}

// testForbidden sends requests that the manager has no permission for. An engine that installs charts may
// read Secrets, where releases are, and create the pods of hooks.
func testForbidden(t *testing.T, c *controlPlane, namespace, account string, charts bool) {
	as := serviceAccount(t, c, namespace, account)
	ctx, dryRun := t.Context(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "outside"}}
	all := metav1.ListOptions{}
	requests := map[string]error{
		"read the volumes": errorOf(as.CoreV1().PersistentVolumes().List(ctx, all)),
		"delete the leases": as.CoordinationV1().Leases(namespace).DeleteCollection(
			ctx, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, all),
		"become an administrator": errorOf(as.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "outside"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		}, dryRun)),
		"get a token of another account": errorOf(as.CoreV1().ServiceAccounts(metav1.NamespaceSystem).CreateToken(
			ctx, "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})),
	}
	if !charts {
		requests["read a secret of the control plane"] = errorOf(as.CoreV1().Secrets(metav1.NamespaceSystem).Get(ctx, "any", metav1.GetOptions{}))
		requests["create a pod"] = errorOf(as.CoreV1().Pods(namespace).Create(ctx, pod, dryRun))
	}
	for what, err := range requests {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// markers returns the permissions in the +kubebuilder:rbac markers of a project: those in
// the namespace of the manager, and those in all namespaces.
func markers(t *testing.T, dir, namespace string) (here, anywhere permissions) {
	t.Helper()
	here, anywhere = permissions{}, permissions{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			text, is := strings.CutPrefix(strings.TrimSpace(lines.Text()), "// +kubebuilder:rbac:")
			if !is {
				continue
			}
			arguments := map[string][]string{}
			for argument := range strings.SplitSeq(text, ",") {
				key, values, _ := strings.Cut(argument, "=")
				arguments[key] = strings.Split(values, ";")
			}
			if groups := arguments["groups"]; groups[0] == "core" {
				groups[0] = "" // the name of the core group in the API
			}
			where := anywhere
			if in := arguments["namespace"]; in != nil {
				if in[0] != namespace {
					t.Errorf("%s has a marker for namespace %s", name, in[0])
				}
				where = here
			}
			where.add(arguments["groups"], arguments["resources"], arguments["verbs"])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return here, anywhere
}

// wantRules compares the permissions of a user in a namespace with the expected ones,
// without those that every user has.
func wantRules(t *testing.T, somebody, nobody kubernetes.Interface, namespace string, want permissions) {
	t.Helper()
	eventually(t, "grant the expected permissions", func() error {
		got, err := allowed(t, somebody, namespace)
		if err != nil {
			return err
		}
		everybody, err := allowed(t, nobody, namespace)
		if err != nil {
			return err
		}
		maps.DeleteFunc(got, func(p string, _ bool) bool { return everybody[p] })
		if diff := gocmp.Diff(want, got); diff != "" {
			return fmt.Errorf("in namespace %s (-want +got):\n%s", namespace, diff)
		}
		return nil
	})
}

// allowed asks the API server for the permissions of the client in a namespace.
func allowed(t *testing.T, as kubernetes.Interface, namespace string) (permissions, error) {
	review, err := as.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(),
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}},
		metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	if review.Status.Incomplete {
		return nil, fmt.Errorf("the rules are incomplete: %s", review.Status.EvaluationError)
	}
	all := permissions{}
	for _, rule := range review.Status.ResourceRules {
		resources := rule.Resources
		if len(rule.ResourceNames) > 0 {
			resources = nil
			for _, resource := range rule.Resources {
				for _, name := range rule.ResourceNames {
					resources = append(resources, resource+"/"+name)
				}
			}
		}
		all.add(rule.APIGroups, resources, rule.Verbs)
	}
	for _, rule := range review.Status.NonResourceRules {
		for _, verb := range rule.Verbs {
			for _, path := range rule.NonResourceURLs {
				all[verb+" "+path] = true
			}
		}
	}
	return all, nil
}

// user returns a client that impersonates a user without groups.
func user(t *testing.T, c *controlPlane, name string) kubernetes.Interface {
	t.Helper()
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// serviceAccount returns a client with a token of a ServiceAccount.
func serviceAccount(t *testing.T, c *controlPlane, namespace, name string) kubernetes.Interface {
	t.Helper()
	token, err := c.client.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(c.config)
	config.BearerToken = token.Status.Token
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
