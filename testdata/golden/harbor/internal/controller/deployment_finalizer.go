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

// This file keeps a Deployment in the API until cleanUp, which you write, is done.
//
// If you need no finalizer, delete this file and deployment_finalizer_test.go, and remove the
// call to finalize from Reconcile. Then remove the finalizer from existing objects.

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	appsv1 "k8s.io/api/apps/v1"
)

// deploymentFinalizer keeps a deleted Deployment in the API until cleanUp succeeds.
const deploymentFinalizer = "example.org/deployment"

// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=patch

// cleanUp deletes what this controller created for deployment outside the cluster.
// (Kubernetes deletes the objects that deployment owns in the cluster.) It runs again
// until it returns neither an error nor RequeueAfter. Something that is deleted already
// is not an error. When cleanUp is done, Kubernetes deletes deployment.
func (r *DeploymentReconciler) cleanUp(ctx context.Context, deployment *appsv1.Deployment) (ctrl.Result, error) {
	// Your code goes here.
	return ctrl.Result{}, nil
}

// finalize adds the finalizer to deployment before the controller creates anything that
// must be cleaned up. When deployment is being deleted, it calls clean, and removes the
// finalizer after clean succeeds.
//
// Both are merge patches, which replace the whole list of finalizers. With the
// optimistic lock they fail if another client changed the object, and Reconcile runs
// again.
func (r *DeploymentReconciler) finalize(
	ctx context.Context, deployment *appsv1.Deployment,
	clean func(context.Context, *appsv1.Deployment) (ctrl.Result, error),
) (ctrl.Result, error) {
	if deployment.DeletionTimestamp.IsZero() {
		patch := client.MergeFromWithOptions(deployment.DeepCopy(), client.MergeFromWithOptimisticLock{})
		if !controllerutil.AddFinalizer(deployment, deploymentFinalizer) {
			return ctrl.Result{}, nil
		}
		// Not found is an error here: the cache is outdated, and nothing would clean
		// up what is created for a deleted object.
		return ctrl.Result{}, r.Patch(ctx, deployment, patch)
	}
	if !controllerutil.ContainsFinalizer(deployment, deploymentFinalizer) {
		return ctrl.Result{}, nil
	}
	if result, err := clean(ctx, deployment); err != nil || !result.IsZero() {
		return result, err
	}
	patch := client.MergeFromWithOptions(deployment.DeepCopy(), client.MergeFromWithOptimisticLock{})
	controllerutil.RemoveFinalizer(deployment, deploymentFinalizer)
	return ctrl.Result{}, client.IgnoreNotFound(r.Patch(ctx, deployment, patch))
}
