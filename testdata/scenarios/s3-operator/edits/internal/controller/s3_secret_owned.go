package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	systeknov1 "github.com/systek/s3-operator/api/v1"
)

// +kubebuilder:rbac:groups=core,resources=secrets,verbs=list;watch;create;update;delete
// +kubebuilder:rbac:groups=systek.no,resources=s3s/finalizers,verbs=update

// ensureSecret creates the Secret with the access key of the bucket. The controller of Secrets
// adds the key.
func (r *S3Reconciler) ensureSecret(ctx context.Context, s3 *systeknov1.S3) error {
	secret := secretOf(s3)
	return own(ctx, r.Client, s3, secret, func() error {
		secret.Labels = labels.Merge(secret.Labels, secretLabels)
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[bucketName] = []byte(s3.Spec.Bucket)
		return nil
	})
}

// removeSecret deletes the Secret of s3, and reports whether it no longer exists.
func (r *S3Reconciler) removeSecret(ctx context.Context, s3 *systeknov1.S3) (bool, error) {
	secret := secretOf(s3)
	err := r.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if err == nil && !metav1.IsControlledBy(secret, s3) {
		return true, nil // somebody else's: ensureSecret left it alone
	}
	if client.IgnoreNotFound(err) != nil {
		return false, err
	}
	// The cache may be stale: ask the API server.
	err = r.Delete(ctx, secretOf(s3))
	return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
}

// secretOf returns the Secret of s3 with only its name.
func secretOf(s3 *systeknov1.S3) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s3.Namespace, Name: s3.Name}}
}
