package controller

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/systek/s3-operator/internal/cloud"
)

// Keys of the Secret of a bucket.
const (
	bucketName      = "BUCKET"
	accessKeyID     = "ACCESS_KEY_ID"
	secretAccessKey = "SECRET_ACCESS_KEY"
)

// ensureUser creates the user of the bucket that secret names, and adds its key to secret.
func (r *SecretReconciler) ensureUser(ctx context.Context, secret *corev1.Secret) error {
	bucket := string(secret.Data[bucketName])
	if bucket == "" || len(secret.Data[accessKeyID]) > 0 {
		return nil
	}
	key, err := r.Cloud.PutUser(ctx, bucket)
	if err != nil {
		return err
	}
	patch := client.MergeFrom(secret.DeepCopy())
	secret.Data[accessKeyID], secret.Data[secretAccessKey] = []byte(key.ID), []byte(key.Secret)
	return r.Patch(ctx, secret, patch)
}

// awaitAccount is a source without events. It delays the start of the controller until the
// cloud answers.
func (r *SecretReconciler) awaitAccount(ctx context.Context, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		_, err := r.Cloud.Bucket(ctx, "any")
		return err == nil || errors.Is(err, cloud.ErrNotFound), nil
	})
}
