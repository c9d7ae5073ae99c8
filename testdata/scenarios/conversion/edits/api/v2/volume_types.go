package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Every field needs a JSON tag. The comments become the descriptions in the CRD.
// After a change, run `operon generate` or `make manifests generate`.

// VolumeSpec is the desired state of a Volume.
type VolumeSpec struct {
	// storage of the volume.
	// +required
	Storage Storage `json:"storage"`
}

// Storage is space of a class.
type Storage struct {
	// gigabytes of space, of 2^30 bytes each.
	// +kubebuilder:validation:Minimum=1
	// +required
	Gigabytes int64 `json:"gigabytes"`
	// class of the storage, if it matters.
	// +optional
	Class string `json:"class,omitempty"`
}

// VolumeStatus is what the controller last saw.
type VolumeStatus struct {
	// conditions describe the state of the object. Ready is True when the actual state
	// matches the spec whose generation is in observedGeneration.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Gigabytes,type=integer,JSONPath=`.spec.storage.gigabytes`
// +kubebuilder:printcolumn:name=Class,type=string,JSONPath=`.spec.storage.class`
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// Volume is a custom resource in the API group storage.example.org.
type Volume struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Volume.
	// +required
	Spec VolumeSpec `json:"spec"`

	// status is the observed state of the Volume.
	// +optional
	Status VolumeStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// VolumeList is a list of Volume objects.
type VolumeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Volume `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Volume{}, &VolumeList{})
		return nil
	})
}
