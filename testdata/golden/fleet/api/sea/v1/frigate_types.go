package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Fields need JSON tags to be stored, and their comments become the
// descriptions in the CRD. After a change run `operon generate`, or `make
// manifests generate`.

// FrigateSpec is what the user of a Frigate asks for.
type FrigateSpec struct {
	// foo is an example: put the fields of a Frigate in its place.
	// +optional
	Foo *string `json:"foo,omitempty"`
}

// FrigateStatus is what the controller last saw.
type FrigateStatus struct {
	// conditions tell how the object is doing. Ready is True once the object is
	// as its spec asks; its observedGeneration is that of the spec it speaks of.
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

// Frigate is a custom resource of the API group sea.example.org.
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
