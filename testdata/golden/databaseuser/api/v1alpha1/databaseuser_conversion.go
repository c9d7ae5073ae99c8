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

package v1alpha1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	mygroupv1 "handsomeguy.cn/databaseuser/api/v1"
)

// operon does not change this file again. When you add a field to a version, add it
// here too. The tests in databaseuser_conversion_test.go detect lost fields.

// ConvertTo converts the DatabaseUser to version v1, the hub.
func (src *DatabaseUser) ConvertTo(hub conversion.Hub) error {
	dst, ok := hub.(*mygroupv1.DatabaseUser)
	if !ok {
		return fmt.Errorf("a DatabaseUser of version v1alpha1 converts to version v1, not to %T", hub)
	}
	*dst = mygroupv1.DatabaseUser{TypeMeta: dst.TypeMeta}
	src = src.DeepCopy() // so that the objects do not share memory
	dst.ObjectMeta = src.ObjectMeta
	convertDatabaseUserSpecToV1(&src.Spec, &dst.Spec)
	convertDatabaseUserStatusToV1(&src.Status, &dst.Status)
	return nil
}

// ConvertFrom converts a DatabaseUser of version v1, the hub, to this version.
func (dst *DatabaseUser) ConvertFrom(hub conversion.Hub) error {
	src, ok := hub.(*mygroupv1.DatabaseUser)
	if !ok {
		return fmt.Errorf("a DatabaseUser of version v1alpha1 converts from version v1, not from %T", hub)
	}
	*dst = DatabaseUser{TypeMeta: dst.TypeMeta}
	src = src.DeepCopy()
	dst.ObjectMeta = src.ObjectMeta
	convertDatabaseUserSpecFromV1(&src.Spec, &dst.Spec)
	convertDatabaseUserStatusFromV1(&src.Status, &dst.Status)
	return nil
}

// convertDatabaseUserSpecToV1 converts DatabaseUserSpec from v1alpha1 to v1.
func convertDatabaseUserSpecToV1(in *DatabaseUserSpec, out *mygroupv1.DatabaseUserSpec) {
	out.Foo = in.Foo
}

// convertDatabaseUserSpecFromV1 converts DatabaseUserSpec from v1 to v1alpha1.
func convertDatabaseUserSpecFromV1(in *mygroupv1.DatabaseUserSpec, out *DatabaseUserSpec) {
	out.Foo = in.Foo
}

// convertDatabaseUserStatusToV1 converts DatabaseUserStatus from v1alpha1 to v1.
func convertDatabaseUserStatusToV1(in *DatabaseUserStatus, out *mygroupv1.DatabaseUserStatus) {
	out.Conditions = in.Conditions
}

// convertDatabaseUserStatusFromV1 converts DatabaseUserStatus from v1 to v1alpha1.
func convertDatabaseUserStatusFromV1(in *mygroupv1.DatabaseUserStatus, out *DatabaseUserStatus) {
	out.Conditions = in.Conditions
}
