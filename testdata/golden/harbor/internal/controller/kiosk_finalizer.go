/*
Copyright 2026.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controller

// This file keeps a Kiosk in the API until cleanUp, which you write, is done.
//
// If you need no finalizer, delete this file and kiosk_finalizer_test.go, and remove the
// call to finalize from Reconcile. Then remove the finalizer from existing objects.

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	portv1 "example.org/harbor/api/v1"
)

// kioskFinalizer keeps a deleted Kiosk in the API until cleanUp succeeds.
const kioskFinalizer = "port.example.org/kiosk"

// +kubebuilder:rbac:groups=port.example.org,resources=kiosks,verbs=patch

// cleanUp deletes what this controller created for kiosk outside the cluster.
// (Kubernetes deletes the objects that kiosk owns in the cluster.) It runs again
// until it returns neither an error nor RequeueAfter. Something that is deleted already
// is not an error. When cleanUp is done, Kubernetes deletes kiosk.
func (r *KioskReconciler) cleanUp(ctx context.Context, kiosk *portv1.Kiosk) (ctrl.Result, error) {
	// Your code goes here.
	r.Recorder.Eventf(kiosk, nil, corev1.EventTypeNormal, "Deleting", "Delete", "The Kiosk is being deleted")
	return ctrl.Result{}, nil
}

// finalize adds the finalizer to kiosk before the controller creates anything that
// must be cleaned up. When kiosk is being deleted, it calls clean, and removes the
// finalizer after clean succeeds.
//
// Both are merge patches, which replace the whole list of finalizers. With the
// optimistic lock they fail if another client changed the object, and Reconcile runs
// again.
func (r *KioskReconciler) finalize(
	ctx context.Context, kiosk *portv1.Kiosk,
	clean func(context.Context, *portv1.Kiosk) (ctrl.Result, error),
) (ctrl.Result, error) {
	if kiosk.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(kiosk.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(kiosk, kioskFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is outdated, and nothing would clean
		// up what is created for a deleted object.
		return ctrl.Result{}, r.Patch(ctx, kiosk, patch)
	}
	if !controllerutil.ContainsFinalizer(kiosk, kioskFinalizer) {
		return ctrl.Result{}, nil
	}
	if result, err := clean(ctx, kiosk); err != nil || !result.IsZero() {
		return result, err
	}
	patch := client.MergeFromWithOptions(kiosk.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(kiosk, kioskFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, kiosk, patch))
}
