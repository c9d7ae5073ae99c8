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

package v1beta1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	portv1 "example.org/harbor/api/v1"
)

// operon does not change this file again. When you add a field to a version, add it
// here too. The tests in berth_conversion_test.go detect lost fields.

// ConvertTo converts the Berth to version v1, the hub.
func (src *Berth) ConvertTo(hub conversion.Hub) error {
	dst, ok := hub.(*portv1.Berth)
	if !ok {
		return fmt.Errorf("a Berth of version v1beta1 converts to version v1, not to %T", hub)
	}
	*dst = portv1.Berth{TypeMeta: dst.TypeMeta}
	src = src.DeepCopy() // so that the objects do not share memory
	dst.ObjectMeta = src.ObjectMeta
	convertBerthSpecToV1(&src.Spec, &dst.Spec)
	convertBerthStatusToV1(&src.Status, &dst.Status)
	return nil
}

// ConvertFrom converts a Berth of version v1, the hub, to this version.
func (dst *Berth) ConvertFrom(hub conversion.Hub) error {
	src, ok := hub.(*portv1.Berth)
	if !ok {
		return fmt.Errorf("a Berth of version v1beta1 converts from version v1, not from %T", hub)
	}
	*dst = Berth{TypeMeta: dst.TypeMeta}
	src = src.DeepCopy()
	dst.ObjectMeta = src.ObjectMeta
	convertBerthSpecFromV1(&src.Spec, &dst.Spec)
	convertBerthStatusFromV1(&src.Status, &dst.Status)
	return nil
}

// convertBerthSpecToV1 converts BerthSpec from v1beta1 to v1.
func convertBerthSpecToV1(in *BerthSpec, out *portv1.BerthSpec) {
	out.Foo = in.Foo
}

// convertBerthSpecFromV1 converts BerthSpec from v1 to v1beta1.
func convertBerthSpecFromV1(in *portv1.BerthSpec, out *BerthSpec) {
	out.Foo = in.Foo
}

// convertBerthStatusToV1 converts BerthStatus from v1beta1 to v1.
func convertBerthStatusToV1(in *BerthStatus, out *portv1.BerthStatus) {
	out.Conditions = in.Conditions
}

// convertBerthStatusFromV1 converts BerthStatus from v1 to v1beta1.
func convertBerthStatusFromV1(in *portv1.BerthStatus, out *BerthStatus) {
	out.Conditions = in.Conditions
}
