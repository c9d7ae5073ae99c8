package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
