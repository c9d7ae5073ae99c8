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

package v1

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	mygroupv1 "handsomeguy.cn/databaseuser/api/v1"
)

// databaseuserlog is for messages that do not belong to a request. Use
// logf.FromContext(ctx) for a request.
var databaseuserlog = logf.Log.WithName("databaseuser-resource")

// SetupDatabaseUserWebhookWithManager serves the webhooks of DatabaseUser with mgr. The API
// server calls the webhooks that are added here before it stores an object. Conversion
// webhooks are served without a call here, if the types have conversions.
func SetupDatabaseUserWebhookWithManager(mgr ctrl.Manager) error {
	databaseuserlog.V(1).Info("setting up the webhooks")
	return ctrl.NewWebhookManagedBy(mgr, &mygroupv1.DatabaseUser{}).
		WithDefaulter(&DatabaseUserDefaulter{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-mygroup-handsomeguy-cn-v1-databaseuser,mutating=true,failurePolicy=fail,sideEffects=None,groups=mygroup.handsomeguy.cn,resources=databaseusers,verbs=create;update,versions=v1,name=mdatabaseuser-v1.kb.io,admissionReviewVersions=v1

// DatabaseUserDefaulter sets defaults in DatabaseUser objects.
type DatabaseUserDefaulter struct{}

// Default sets the defaults of a DatabaseUser before it is validated and stored. It must
// be idempotent: a second call must not change anything.
func (d *DatabaseUserDefaulter) Default(_ context.Context, databaseuser *mygroupv1.DatabaseUser) error {
	// Your code goes here: set the missing fields of databaseuser, such as
	//
	//	if databaseuser.Spec.Foo == nil {
	//		databaseuser.Spec.Foo = new("bar")
	//	}

	return nil
}
