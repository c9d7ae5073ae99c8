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

// This file keeps a DatabaseUser in the API until cleanUp, which you write, is done.
//
// If you need no finalizer, delete this file and databaseuser_finalizer_test.go, and remove the
// call to finalize from Reconcile. Then remove the finalizer from existing objects.

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	mygroupv1alpha1 "handsomeguy.cn/databaseuser/api/v1alpha1"
)

// databaseuserFinalizer keeps a deleted DatabaseUser in the API until cleanUp succeeds.
const databaseuserFinalizer = "mygroup.handsomeguy.cn/databaseuser"

// +kubebuilder:rbac:groups=mygroup.handsomeguy.cn,namespace=databaseuser-system,resources=databaseusers,verbs=patch

// cleanUp deletes what this controller created for databaseuser outside the cluster.
// (Kubernetes deletes the objects that databaseuser owns in the cluster.) It runs again
// until it returns neither an error nor RequeueAfter. Something that is deleted already
// is not an error. When cleanUp is done, Kubernetes deletes databaseuser.
func (r *DatabaseUserReconciler) cleanUp(ctx context.Context, databaseuser *mygroupv1alpha1.DatabaseUser) (ctrl.Result, error) {
	// Your code goes here.
	return ctrl.Result{}, nil
}

// finalize adds the finalizer to databaseuser before the controller creates anything that
// must be cleaned up. When databaseuser is being deleted, it calls clean, and removes the
// finalizer after clean succeeds.
//
// Both are merge patches, which replace the whole list of finalizers. With the
// optimistic lock they fail if another client changed the object, and Reconcile runs
// again.
func (r *DatabaseUserReconciler) finalize(
	ctx context.Context, databaseuser *mygroupv1alpha1.DatabaseUser,
	clean func(context.Context, *mygroupv1alpha1.DatabaseUser) (ctrl.Result, error),
) (ctrl.Result, error) {
	if databaseuser.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(databaseuser.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(databaseuser, databaseuserFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is outdated, and nothing would clean
		// up what is created for a deleted object.
		return ctrl.Result{}, r.Patch(ctx, databaseuser, patch)
	}
	if !controllerutil.ContainsFinalizer(databaseuser, databaseuserFinalizer) {
		return ctrl.Result{}, nil
	}
	if result, err := clean(ctx, databaseuser); err != nil || !result.IsZero() {
		return result, err
	}
	patch := client.MergeFromWithOptions(databaseuser.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(databaseuser, databaseuserFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, databaseuser, patch))
}
