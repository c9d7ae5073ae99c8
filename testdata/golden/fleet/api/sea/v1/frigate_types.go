package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Every field needs a JSON tag. The comments become the descriptions in the CRD.
// After a change, run `operon generate` or `make manifests generate`.

// FrigateSpec is the desired state of a Frigate.
type FrigateSpec struct {
	// foo is an example field. Replace it with the fields of a Frigate.
	// +optional
	Foo *string `json:"foo,omitempty"`
}

// FrigateStatus is the observed state of a Frigate.
type FrigateStatus struct {
	// conditions describe the state of the object. Ready is True when the actual state
	// matches the spec whose generation is in observedGeneration.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// Frigate is a custom resource in the API group sea.example.org.
type Frigate struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Frigate.
	// +required
	Spec FrigateSpec `json:"spec"`

	// status is the observed state of the Frigate.
	// +optional
	Status FrigateStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// FrigateList is a list of Frigate objects.
type FrigateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Frigate `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Frigate{}, &FrigateList{})
		return nil
	})
}
