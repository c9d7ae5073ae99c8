package v1

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	shipv2 "example.org/fleet/api/ship/v2"
)

// operon does not change this file again. When you add a field to a version, add it
// here too. The tests in frigate_conversion_test.go detect lost fields.

// ConvertTo converts the Frigate to version v2, the hub.
func (src *Frigate) ConvertTo(hub conversion.Hub) error {
	dst, ok := hub.(*shipv2.Frigate)
	if !ok {
		return fmt.Errorf("a Frigate of version v1 converts to version v2, not to %T", hub)
	}
	*dst = shipv2.Frigate{TypeMeta: dst.TypeMeta}
	src = src.DeepCopy() // so that the objects do not share memory
	dst.ObjectMeta = src.ObjectMeta
	convertFrigateSpecToV2(&src.Spec, &dst.Spec)
	convertFrigateStatusToV2(&src.Status, &dst.Status)
	return nil
}

// ConvertFrom converts a Frigate of version v2, the hub, to this version.
func (dst *Frigate) ConvertFrom(hub conversion.Hub) error {
	src, ok := hub.(*shipv2.Frigate)
	if !ok {
		return fmt.Errorf("a Frigate of version v1 converts from version v2, not from %T", hub)
	}
	*dst = Frigate{TypeMeta: dst.TypeMeta}
	src = src.DeepCopy()
	dst.ObjectMeta = src.ObjectMeta
	convertFrigateSpecFromV2(&src.Spec, &dst.Spec)
	convertFrigateStatusFromV2(&src.Status, &dst.Status)
	return nil
}

// convertFrigateSpecToV2 converts FrigateSpec from v1 to v2.
func convertFrigateSpecToV2(in *FrigateSpec, out *shipv2.FrigateSpec) {
	out.Foo = in.Foo
}

// convertFrigateSpecFromV2 converts FrigateSpec from v2 to v1.
func convertFrigateSpecFromV2(in *shipv2.FrigateSpec, out *FrigateSpec) {
	out.Foo = in.Foo
}

// convertFrigateStatusToV2 converts FrigateStatus from v1 to v2.
func convertFrigateStatusToV2(in *FrigateStatus, out *shipv2.FrigateStatus) {
	out.Conditions = in.Conditions
}

// convertFrigateStatusFromV2 converts FrigateStatus from v2 to v1.
func convertFrigateStatusFromV2(in *shipv2.FrigateStatus, out *FrigateStatus) {
	out.Conditions = in.Conditions
}
