package controller

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	mygroupv1alpha1 "handsomeguy.cn/databaseuser/api/v1alpha1"
	"handsomeguy.cn/databaseuser/internal/database"
)

// ensureUser creates the user in the database, or updates its password from the Secret.
func (r *DatabaseUserReconciler) ensureUser(ctx context.Context, databaseuser *mygroupv1alpha1.DatabaseUser) error {
	ref := databaseuser.Spec.Password
	secret := &corev1.Secret{}
	err := r.Get(ctx, client.ObjectKey{Namespace: databaseuser.Namespace, Name: ref.Name}, secret)
	if apierrors.IsNotFound(err) {
		return failed(databaseuser, "SecretMissing", fmt.Errorf("there is no Secret %s", ref.Name))
	}
	if err != nil {
		return err
	}
	password, ok := secret.Data[ref.Key]
	if !ok {
		return failed(databaseuser, "KeyMissing", fmt.Errorf("the Secret %s has no key %s", ref.Name, ref.Key))
	}
	return inDatabase(databaseuser, r.Database.SetUser(ctx, databaseuser.Spec.User, string(password)))
}

// dropUser removes the user from the database.
func (r *DatabaseUserReconciler) dropUser(ctx context.Context, databaseuser *mygroupv1alpha1.DatabaseUser) error {
	return inDatabase(databaseuser, r.Database.DropUser(ctx, databaseuser.Spec.User))
}

// inDatabase reports an error of the database in the status, without confidential details.
func inDatabase(databaseuser *mygroupv1alpha1.DatabaseUser, err error) error {
	switch {
	case errors.Is(err, database.ErrRefused):
		return failed(databaseuser, "DatabaseRefuses", err)
	case errors.Is(err, database.ErrUnreachable):
		_ = failed(databaseuser, "DatabaseUnreachable", database.ErrUnreachable) // without addresses
	}
	return err
}

// failed reports the failed step in the condition Ready, and returns its error.
func failed(databaseuser *mygroupv1alpha1.DatabaseUser, reason string, err error) error {
	meta.SetStatusCondition(&databaseuser.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionFalse, Reason: reason, Message: err.Error(),
	})
	return err
}
