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

	portv1 "example.org/harbor/api/v1"
)

// berthFinalizer keeps a deleted Berth in the API until cleanUp is done.
const berthFinalizer = "port.example.org/berth"

// +kubebuilder:rbac:groups=port.example.org,resources=berths,verbs=patch

// cleanUp removes what this controller made for berth where Kubernetes does not
// see it. (What berth owns in the cluster goes by itself.) It is called again as
// long as it returns an error or, for what takes its time, RequeueAfter; so things
// that are gone already are no error. Afterwards berth goes.
func (r *BerthReconciler) cleanUp(ctx context.Context, berth *portv1.Berth) (ctrl.Result, error) {
	// Your code goes here.
	return ctrl.Result{}, nil
}

// finalize gives berth the finalizer, before anything is made that must be cleaned
// up. Once berth is being deleted, it has it cleaned up by clean, and only when that
// is done takes the finalizer off, which lets berth go.
//
// Both are merge patches, which replace the whole list of finalizers: the lock makes
// them fail, and Reconcile run again, when another writer came first.
func (r *BerthReconciler) finalize(
	ctx context.Context, berth *portv1.Berth,
	clean func(context.Context, *portv1.Berth) (ctrl.Result, error),
) (ctrl.Result, error) {
	if berth.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(berth.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(berth, berthFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is behind, and what would be made
		// for an object that is gone, nobody would clean up.
		return ctrl.Result{}, r.Patch(ctx, berth, patch)
	}
	if !controllerutil.ContainsFinalizer(berth, berthFinalizer) {
		return ctrl.Result{}, nil
	}
	if result, err := clean(ctx, berth); err != nil || !result.IsZero() {
		return result, err
	}
	patch := client.MergeFromWithOptions(berth.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(berth, berthFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, berth, patch))
}
