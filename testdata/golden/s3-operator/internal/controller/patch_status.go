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
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patchStatus writes the status of obj, as far as it differs from that of before,
// and waits until c reads it back. An obj that is gone needs no status.
//
// c reads from a cache, which hears of a write a little later. A Reconcile that
// came in between would compare its status with the one that was replaced: where
// it comes to the same, it would write nothing, and what was written here would
// stay, wrong as it is by then. Nothing calls Reconcile when the cache catches up.
func patchStatus(ctx context.Context, c client.Client, before, obj client.Object) error {
	// A merge patch replaces the whole list of conditions: the lock makes it
	// fail, and Reconcile run again, when another writer came first.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := c.Status().Patch(ctx, obj, patch); err != nil {
		return client.IgnoreNotFound(err)
	}
	cached := obj.DeepCopyObject().(client.Object)
	return wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(obj), cached); err != nil {
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		}
		order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), obj.GetResourceVersion())
		return order >= 0, err
	})
}
