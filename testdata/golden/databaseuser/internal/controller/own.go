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

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// own creates obj, of which name and namespace are known, with the fields that set
// gives it; one that is there is updated where set changes it, and only then. owner
// becomes its controller: Kubernetes removes obj together with owner, and an obj
// that another controller has is an error.
//
// Before set is called, obj holds what the cluster has. So set should assign the
// fields that the owner decides about one by one, and leave all others to the
// defaults of the API server and to other controllers.
func own(ctx context.Context, c client.Client, owner, obj client.Object, set func() error) error {
	_, err := controllerutil.CreateOrUpdate(ctx, c, obj, func() error {
		if err := set(); err != nil {
			return err
		}
		return controllerutil.SetControllerReference(owner, obj, c.Scheme())
	})
	return err
}
