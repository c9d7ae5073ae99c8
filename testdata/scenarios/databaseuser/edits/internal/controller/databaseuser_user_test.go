package controller

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"handsomeguy.cn/databaseuser/internal/database"
	"handsomeguy.cn/databaseuser/internal/database/databasetest"
)

// databaseuserSecretSample is the Secret that the sample refers to.
const databaseuserSecretSample = "test/objects/core_v1_secret.yaml"

func passwordSecret(t *testing.T) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := readSample(databaseuserSecretSample, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestDatabaseUserGetsPasswordOfSecret(t *testing.T) {
	r, req, db := newDatabaseUser(t)
	secret := passwordSecret(t)
	for _, password := range []string{"first", "second"} {
		secret.Data["password"] = []byte(password)
		if err := r.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Reconcile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if got, _ := db.Password("alice"); got != password {
			t.Errorf("the database has the password %q, want %q", got, password)
		}
	}
}

func TestDatabaseUserShowsFailedStep(t *testing.T) {
	r, req, db := newDatabaseUser(t)
	fails := func(reason, message string) {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), req); err == nil {
			t.Error("no error: nobody calls again")
		}
		ready := meta.FindStatusCondition(databaseuserIn(t, r, req).Status.Conditions, "Ready")
		if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != reason || ready.Message != message {
			t.Errorf("condition Ready is %+v, want False, %s: %s", ready, reason, message)
		}
	}
	succeeds := func() {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if got := databaseuserIn(t, r, req); !meta.IsStatusConditionTrue(got.Status.Conditions, "Ready") {
			t.Errorf("the conditions are %+v, want Ready", got.Status.Conditions)
		}
	}
	if err := r.Delete(t.Context(), passwordSecret(t)); err != nil {
		t.Fatal(err)
	}
	fails("SecretMissing", "there is no Secret alice")

	secret := passwordSecret(t)
	password := secret.Data["password"]
	secret.Data = map[string][]byte{"other": password}
	if err := r.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	fails("KeyMissing", "the Secret alice has no key password")

	secret.Data = map[string][]byte{"password": password}
	if err := r.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	db.Fail(fmt.Errorf("%w: too short", database.ErrRefused))
	fails("DatabaseRefuses", "the database refuses: too short")
	db.Fail(fmt.Errorf("%w: dial tcp 10.0.0.7", database.ErrUnreachable))
	fails("DatabaseUnreachable", "the database is out of reach")
	db.Fail(nil)
	succeeds()
}

func TestDatabaseUserGoesOnceItLeftDatabase(t *testing.T) {
	r, req, db := newDatabaseUser(t)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	db.Fail(fmt.Errorf("%w: alice owns tables", database.ErrRefused))
	obj := databaseuserIn(t, r, req)
	if err := r.Delete(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), req); err == nil {
		t.Error("no error: nobody calls again")
	}
	ready := meta.FindStatusCondition(databaseuserIn(t, r, req).Status.Conditions, "Ready")
	if ready == nil || ready.Reason != "DatabaseRefuses" || ready.Message != "the database refuses: alice owns tables" {
		t.Errorf("condition Ready is %+v", ready)
	}

	db.Fail(nil)
	if _, err := r.Reconcile(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	if _, there := db.Password("alice"); there {
		t.Error("the user is still in the database")
	}
	if err := r.Get(t.Context(), req.NamespacedName, obj); !apierrors.IsNotFound(err) {
		t.Errorf("the object is still there: %v", err)
	}
}

// newDatabaseUser returns a reconciler whose client has the sample and its Secret, the request
// to reconcile the sample, and an empty database.
func newDatabaseUser(t *testing.T) (*DatabaseUserReconciler, ctrl.Request, *databasetest.Database) {
	t.Helper()
	r, req := newDatabaseUserReconciler(t)
	db := &databasetest.Database{}
	r.Database = db
	return r, req, db
}
