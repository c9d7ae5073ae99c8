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

// This file limits the controller to DatabaseUser objects with some labels.
//
// Without this limit, delete this file and databaseuser_label_test.go, and isSelected
// in Reconcile and SetupWithManager.

import (
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// databaseuserLabels are the labels that a DatabaseUser needs for this controller to
// reconcile it. Objects that the controller owns or watches do not need them.
var databaseuserLabels = labels.Set{
	"target": "that-database",
}

// isSelected reports whether obj has all of these labels. SetupWithManager filters
// events with it, and Reconcile filters requests from owned and watched objects. An
// object that is being deleted is always selected: if it had the labels before, it may
// still have the finalizer.
func (r *DatabaseUserReconciler) isSelected(obj client.Object) bool {
	return !obj.GetDeletionTimestamp().IsZero() || databaseuserLabels.AsSelector().Matches(labels.Set(obj.GetLabels()))
}
