package v1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	storagev2 "example.org/volumes/api/v2"
)

// operon does not change this file again. When you add a field to a version, add it
// here too. The tests in volume_conversion_test.go detect lost fields.

// ConvertTo converts the Volume to version v2, the hub.
func (src *Volume) ConvertTo(hub conversion.Hub) error {
	dst, ok := hub.(*storagev2.Volume)
	if !ok {
		return fmt.Errorf("a Volume of version v1 converts to version v2, not to %T", hub)
	}
	*dst = storagev2.Volume{TypeMeta: dst.TypeMeta}
	src = src.DeepCopy() // so that the objects do not share memory
	dst.ObjectMeta = src.ObjectMeta
	convertVolumeStatusToV2(&src.Status, &dst.Status)
	return convertVolumeSpecToV2(&src.Spec, dst)
}

// ConvertFrom converts a Volume of version v2, the hub, to this version.
func (dst *Volume) ConvertFrom(hub conversion.Hub) error {
	src, ok := hub.(*storagev2.Volume)
	if !ok {
		return fmt.Errorf("a Volume of version v1 converts from version v2, not from %T", hub)
	}
	*dst = Volume{TypeMeta: dst.TypeMeta}
	src = src.DeepCopy()
	dst.ObjectMeta = src.ObjectMeta
	convertVolumeSpecFromV2(&src.Spec, dst)
	convertVolumeStatusFromV2(&src.Status, &dst.Status)
	return nil
}

// Values that a version cannot represent are kept in an annotation for the conversion back.
const (
	sizeAnnotation  = "storage.example.org/size"  // of v2: a size that is no number of gigabytes
	classAnnotation = "storage.example.org/class" // of v1
)

// convertVolumeSpecToV2 converts VolumeSpec from v1 to v2.
func convertVolumeSpecToV2(in *VolumeSpec, out *storagev2.Volume) (err error) {
	storage := &out.Spec.Storage
	storage.Class = takeAnnotation(out, classAnnotation)
	storage.Gigabytes, err = gigabytes(in.Size)
	if in.Size != sizeOf(storage.Gigabytes) {
		metav1.SetMetaDataAnnotation(&out.ObjectMeta, sizeAnnotation, in.Size)
	}
	return err
}

// convertVolumeSpecFromV2 converts VolumeSpec from v2 to v1.
func convertVolumeSpecFromV2(in *storagev2.VolumeSpec, out *Volume) {
	out.Spec.Size = sizeOf(in.Storage.Gigabytes)
	size := takeAnnotation(out, sizeAnnotation)
	if rounded, err := gigabytes(size); err == nil && rounded == in.Storage.Gigabytes {
		out.Spec.Size = size // nobody asked for another one since
	}
	if in.Storage.Class != "" {
		metav1.SetMetaDataAnnotation(&out.ObjectMeta, classAnnotation, in.Storage.Class)
	}
}

func sizeOf(gigabytes int64) string { return fmt.Sprintf("%dGi", gigabytes) }

// gigabytes rounds a size up.
func gigabytes(size string) (int64, error) {
	quantity, err := resource.ParseQuantity(size)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", size, err)
	}
	const one = 1 << 30
	return (quantity.Value() + one - 1) / one, nil
}

// takeAnnotation removes an annotation and returns its value.
func takeAnnotation(obj metav1.Object, key string) string {
	annotations := obj.GetAnnotations()
	value := annotations[key]
	delete(annotations, key)
	return value
}

// convertVolumeStatusToV2 converts VolumeStatus from v1 to v2.
func convertVolumeStatusToV2(in *VolumeStatus, out *storagev2.VolumeStatus) {
	out.Conditions = in.Conditions
}

// convertVolumeStatusFromV2 converts VolumeStatus from v2 to v1.
func convertVolumeStatusFromV2(in *storagev2.VolumeStatus, out *VolumeStatus) {
	out.Conditions = in.Conditions
}
