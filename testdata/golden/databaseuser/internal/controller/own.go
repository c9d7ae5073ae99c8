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

// This file writes owned objects. Delete it and own_test.go when no controller in this
// package calls own.

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// own creates or updates obj, which needs a name and a namespace. It calls set to
// fill in the fields, and writes only if they change. owner becomes the controller
// of obj: Kubernetes deletes obj together with owner. It is an error if another
// controller owns obj already.
//
// When set is called, obj has the content from the cluster. Assign only the fields that
// you manage, and leave all others to the API server's defaults and to other controllers.
func own(ctx context.Context, c client.Client, owner, obj client.Object, set func() error) error {
	_, err := controllerutil.CreateOrUpdate(ctx, c, obj, func() error {
		if err := set(); err != nil {
			return err
		}
		return controllerutil.SetControllerReference(owner, obj, c.Scheme())
	})
	return err
}
