package controller

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	systeknov1 "github.com/systek/s3-operator/api/v1"
	"github.com/systek/s3-operator/internal/cloud"
)

// pollInterval is the interval between requests for a pending bucket.
const pollInterval = time.Second

// ensureBucket creates or updates the bucket. It is complete when it returns neither an error
// nor a requeue.
func (r *S3Reconciler) ensureBucket(ctx context.Context, s3 *systeknov1.S3) (ctrl.Result, error) {
	want := cloud.Bucket{Name: s3.Spec.Bucket, Region: s3.Spec.Region, Versioned: s3.Spec.Versioned}
	bucket, err := r.Cloud.Bucket(ctx, want.Name)
	if errors.Is(err, cloud.ErrNotFound) || err == nil && bucket.Versioned != want.Versioned {
		bucket, err = r.Cloud.PutBucket(ctx, want)
	}
	switch {
	case errors.Is(err, cloud.ErrRefused):
		return ctrl.Result{}, reconcile.TerminalError(err) // until the spec changes
	case errors.Is(err, cloud.ErrBusy):
		await(s3, "CloudBusy", "the cloud takes no requests at the moment")
		//nolint:staticcheck // retry with backoff, but without an error
		return ctrl.Result{Requeue: true}, nil
	case err != nil:
		return ctrl.Result{}, err
	case bucket.URL == "":
		await(s3, "BucketPending", "the cloud is making the bucket")
		return ctrl.Result{RequeueAfter: pollInterval}, nil
	}
	s3.Status.URL = bucket.URL
	return ctrl.Result{}, nil
}

// await reports in the status why s3 is not ready.
func await(s3 *systeknov1.S3, reason, message string) {
	meta.SetStatusCondition(&s3.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionFalse, Reason: reason, Message: message,
	})
}
