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

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	mygroupv1alpha1 "handsomeguy.cn/databaseuser/api/v1alpha1"
)

// databaseuserFinalizer keeps a deleted DatabaseUser in the API until cleanUp is done.
const databaseuserFinalizer = "mygroup.handsomeguy.cn/databaseuser"

// +kubebuilder:rbac:groups=mygroup.handsomeguy.cn,namespace=databaseuser-system,resources=databaseusers,verbs=patch

// cleanUp removes what this controller made for databaseuser where Kubernetes does not
// see it. (What databaseuser owns in the cluster goes by itself.) It is called again as
// long as it returns an error or, for what takes its time, RequeueAfter; so things
// that are gone already are no error. Afterwards databaseuser goes.
func (r *DatabaseUserReconciler) cleanUp(ctx context.Context, databaseuser *mygroupv1alpha1.DatabaseUser) (ctrl.Result, error) {
	// Your code goes here.
	return ctrl.Result{}, nil
}

// finalize gives databaseuser the finalizer, before anything is made that must be cleaned
// up. Once databaseuser is being deleted, it has it cleaned up by clean, and only when that
// is done takes the finalizer off, which lets databaseuser go.
//
// Both are merge patches, which replace the whole list of finalizers: the lock makes
// them fail, and Reconcile run again, when another writer came first.
func (r *DatabaseUserReconciler) finalize(
	ctx context.Context, databaseuser *mygroupv1alpha1.DatabaseUser,
	clean func(context.Context, *mygroupv1alpha1.DatabaseUser) (ctrl.Result, error),
) (ctrl.Result, error) {
	if databaseuser.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(databaseuser.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(databaseuser, databaseuserFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is behind, and what would be made
		// for an object that is gone, nobody would clean up.
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
