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

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	mygroupv1alpha1 "handsomeguy.cn/databaseuser/api/v1alpha1"
)

// DatabaseUserReconciler reconciles DatabaseUser objects.
type DatabaseUserReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// +kubebuilder:rbac:groups=mygroup.handsomeguy.cn,namespace=databaseuser-system,resources=databaseusers,verbs=get;list;watch
// +kubebuilder:rbac:groups=mygroup.handsomeguy.cn,namespace=databaseuser-system,resources=databaseusers/status,verbs=update;patch

// Reconcile runs when the named DatabaseUser may have changed. It may run at any time
// and more than once. If it returns an error, it runs again with increasing delay.
func (r *DatabaseUserReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	databaseuser := &mygroupv1alpha1.DatabaseUser{}
	if err := r.Get(ctx, req.NamespacedName, databaseuser); err != nil {
		// Not found: the object was deleted after the event. There is nothing to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !r.isSelected(databaseuser) {
		return ctrl.Result{}, nil
	}
	if result, err := r.finalize(ctx, databaseuser, func(ctx context.Context, databaseuser *mygroupv1alpha1.DatabaseUser) (ctrl.Result, error) {
		return r.reportReady(ctx, databaseuser, r.cleanUp)
	}); err != nil || !result.IsZero() {
		return result, err
	}
	if !databaseuser.DeletionTimestamp.IsZero() {
		// The object is being deleted: the owners of its finalizers clean up, and
		// Kubernetes deletes the objects that it owns.
		return ctrl.Result{}, nil
	}
	return r.reportReady(ctx, databaseuser, r.reconcileSpec)
}

// reconcileSpec makes the actual state match databaseuser.Spec and records what it
// observes in databaseuser.Status, which reportReady writes afterwards. If the actual
// state matches already, it must not change anything.
func (r *DatabaseUserReconciler) reconcileSpec(ctx context.Context, databaseuser *mygroupv1alpha1.DatabaseUser) (ctrl.Result, error) {
	// Your code goes here. Return an error to try again, or RequeueAfter to look again
	// later. The condition Ready shows the text of an error, which must not contain
	// secrets. databaseuser_status.go describes how to report other results.

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller for DatabaseUser objects with mgr. Changes of the
// spec, the labels or the annotations, and a deletion, trigger Reconcile. Changes of
// the status and cache resyncs do not: return RequeueAfter to check external state
// periodically.
func (r *DatabaseUserReconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := predicate.Or(
		predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&mygroupv1alpha1.DatabaseUser{}, builder.WithPredicates(changed, predicate.NewPredicateFuncs(r.isSelected))).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.requestsForSecret),
			builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		Named("databaseuser").
		Complete(r)
}
