//go:build testall

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestDatabaseUser runs an operator for users in a database. Its manager is limited to two
// namespaces, and its controller to objects with a label.
func TestDatabaseUser(t *testing.T) {
	t.Parallel()
	db := serveUserDatabase(t)
	near, far, outside := cluster.namespace(t, "near", nil), cluster.namespace(t, "far", nil), cluster.namespace(t, "outside", nil)
	i := install(t, cluster, scenario(t, "databaseuser"), func(config string) { watch(t, config, near, far) })
	i.grantFurther(t, near)
	i.grantFurther(t, far)
	i.run(t, "--database-url="+db.url)
	for _, test := range []struct {
		name, user, namespace string
		run                   func(*testing.T, databaseUser)
	}{
		{"is shown by kubectl", "shown", near, databaseUserShown},
		{"has the password of its Secret", "secret", near, databaseUserSecret},
		{"needs the label", "labelled", near, databaseUserLabel},
		{"reports failures and recovers", "failed", near, databaseUserFails},
		{"is deleted from the database first", "leaving", near, databaseUserDeleted},
		{"is reconciled in the second namespace", "far", far, databaseUserSecret},
		{"is not reconciled in the third", "outside", outside, databaseUserOutside},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			u := databaseUser{
				userDatabase: db, user: test.user,
				object: i.sample(t, "mygroup_v1alpha1_databaseuser.yaml"),
				secret: object("v1", "Secret", test.namespace, test.user),
			}
			u.object.SetNamespace(test.namespace)
			u.object.SetName(test.user)
			setAt(t, u.object, test.user, "spec", "user")
			setAt(t, u.object, test.user, "spec", "password", "name")
			test.run(t, u)
		})
	}
}

// watch sets the namespaces of the manager as the README describes.
func watch(t *testing.T, config string, namespaces ...string) {
	t.Helper()
	name := filepath.Join(config, "manager", "manager.yaml")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const own = "valueFrom:\n            fieldRef:\n              fieldPath: metadata.namespace\n"
	if strings.Count(string(content), own) != 1 {
		t.Fatalf("%s must name the namespace of the manager once", name)
	}
	text := strings.Replace(string(content), own, "value: "+strings.Join(namespaces, ",")+"\n", 1)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// grantFurther gives the manager its permissions in one more namespace, as the README
// describes.
func (i *installation) grantFurther(t *testing.T, namespace string) {
	t.Helper()
	text := readmeBlock(t, i.dir, "config/watch/team-a/kustomization.yaml")
	// Names begin with the prefix of the installation, and so does its namespace.
	text = strings.ReplaceAll(text, i.name+"-", i.prefix)
	text = strings.ReplaceAll(text, "team-a", namespace)
	folder := filepath.Join(i.folder, "watch", namespace)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cluster.apply(t, i.build(t, filepath.Join("watch", namespace))...)
}

// databaseUser is a DatabaseUser object, the Secret with its password, and the user in the
// database. All have the same name.
type databaseUser struct {
	*userDatabase
	user           string
	object, secret *unstructured.Unstructured
}

// create creates the object and its Secret, and waits for the user.
func (u databaseUser) create(t *testing.T, password string) {
	t.Helper()
	u.setPassword(t, "password", password)
	mustCreate(t, u.object)
	u.awaitPassword(t, password)
}

// setPassword writes the password to a key of the Secret and removes other keys.
func (u databaseUser) setPassword(t *testing.T, key, password string) {
	t.Helper()
	secret := u.secret.DeepCopy()
	setAt(t, secret, base64.StdEncoding.EncodeToString([]byte(password)), "data", key)
	cluster.apply(t, secret)
}

func (u databaseUser) awaitPassword(t *testing.T, want string) {
	t.Helper()
	eventually(t, "update the user", func() error {
		if got := u.password(u.user); got != want {
			return fmt.Errorf("the password is %q, want %q", got, want)
		}
		return ready(cluster.get(t, u.object))
	})
}

// awaitFailure waits until Ready is False with a reason and a message.
func (u databaseUser) awaitFailure(t *testing.T, reason, message string) {
	t.Helper()
	eventually(t, "report the failure", func() error {
		o, err := cluster.get(t, u.object)
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			c := c.(map[string]any)
			if c["type"] == "Ready" && c["status"] == "False" && c["reason"] == reason && c["message"] == message &&
				c["lastTransitionTime"] != nil && c["observedGeneration"] == o.GetGeneration() {
				return nil
			}
		}
		return fmt.Errorf("the conditions are %v, want Ready False, %s: %s", conditions, reason, message)
	})
}

// untouched returns an error when the controller has handled the object.
func (u databaseUser) untouched(t *testing.T) error {
	t.Helper()
	o, err := cluster.get(t, u.object)
	if err == nil && (len(o.GetFinalizers()) > 0 || o.Object["status"] != nil || u.password(u.user) != "") {
		err = fmt.Errorf("finalizers %q, status %v, password %q", o.GetFinalizers(), o.Object["status"], u.password(u.user))
	}
	return err
}

func databaseUserShown(t *testing.T, u databaseUser) {
	u.create(t, "open sesame")
	table := strings.Split(kubectl(t, "get", "dbu", u.user, "--namespace", u.object.GetNamespace()), "\n")
	if len(table) < 2 || !slices.Equal(strings.Fields(table[0]), []string{"NAME", "USER", "READY", "AGE"}) ||
		!slices.Equal(strings.Fields(table[1])[:3], []string{u.user, u.user, "True"}) {
		t.Errorf("kubectl get dbu prints\n%s", strings.Join(table, "\n"))
	}
}

// kubectl runs kubectl as the administrator of the control plane.
func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	args = append(args, "--kubeconfig", cluster.kubeconfig)
	out, err := command(t.TempDir(), filepath.Join(operontest.Assets(), "kubectl"), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func databaseUserSecret(t *testing.T, u databaseUser) {
	u.create(t, "first")
	u.setPassword(t, "password", "second")
	u.awaitPassword(t, "second")
	_, err := cluster.patch(t, u.object, `{"spec":{"user":"another"}}`)
	if fields := invalidFields(err); !slices.Equal(fields, []string{"spec.user"}) {
		t.Errorf("the user was renamed: %v", err)
	}
}

func databaseUserLabel(t *testing.T, u databaseUser) {
	u.object.SetLabels(nil)
	u.setPassword(t, "password", "open sesame")
	mustCreate(t, u.object)
	u.setPassword(t, "password", "changed")
	consistently(t, "leave it alone", func() error { return u.untouched(t) })

	patched(t, u.object, `{"metadata":{"labels":{"target":"that-database"}}}`)
	u.awaitPassword(t, "changed")

	// The controller also cleans up after an object that has lost the label.
	patched(t, u.object, `{"metadata":{"labels":null}}`)
	u.remove(t)
	u.awaitDeleted(t)
}

func databaseUserFails(t *testing.T, u databaseUser) {
	mustCreate(t, u.object)
	u.awaitFailure(t, "SecretMissing", "there is no Secret failed")
	u.setPassword(t, "other", "open sesame")
	u.awaitFailure(t, "KeyMissing", "the Secret failed has no key password")
	described := kubectl(t, "describe", "dbu", u.user, "--namespace", u.object.GetNamespace())
	want := "Message: the Secret failed has no key password Observed Generation: 1 Reason: KeyMissing Status: False Type: Ready"
	if !strings.Contains(strings.Join(strings.Fields(described), " "), want) {
		t.Errorf("kubectl describe dbu prints\n%s", described)
	}
	u.setPassword(t, "password", "open sesame")
	u.awaitPassword(t, "open sesame")

	u.refuse(u.user, "the password is on a list")
	u.setPassword(t, "password", "sesame")
	u.awaitFailure(t, "DatabaseRefuses", "the database refuses: the password is on a list")
	u.refuse(u.user, "")
	u.awaitPassword(t, "sesame")
}

func databaseUserDeleted(t *testing.T, u databaseUser) {
	u.create(t, "open sesame")
	u.refuse(u.user, "the user owns tables")
	u.remove(t)
	u.awaitFailure(t, "DatabaseRefuses", "the database refuses: the user owns tables")
	u.refuse(u.user, "")
	u.awaitDeleted(t)
}

func (u databaseUser) remove(t *testing.T) {
	t.Helper()
	if err := cluster.delete(t, u.object); err != nil {
		t.Fatal(err)
	}
}

// awaitDeleted waits until the object is deleted. Its user must have been deleted before.
func (u databaseUser) awaitDeleted(t *testing.T) {
	t.Helper()
	eventually(t, "delete the object", func() error { return gone(cluster.get(t, u.object)) })
	if got := u.password(u.user); got != "" {
		t.Errorf("the object is gone, but its user exists, with the password %q", got)
	}
}

func databaseUserOutside(t *testing.T, u databaseUser) {
	u.setPassword(t, "password", "open sesame")
	mustCreate(t, u.object)
	consistently(t, "leave it alone", func() error { return u.untouched(t) })
}
