package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Every field needs a JSON tag. The comments become the descriptions in the CRD.
// After a change, run `operon generate` or `make manifests generate`.

// SentinelSpec is the desired state of a Sentinel.
type SentinelSpec struct {
	// foo is an example field. Replace it with the fields of a Sentinel.
	// +optional
	Foo *string `json:"foo,omitempty"`
}

// SentinelStatus is the observed state of a Sentinel.
type SentinelStatus struct {
	// conditions describe the state of the object. Ready is True when the actual state
	// matches the spec whose generation is in observedGeneration.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:ac:generate=true
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=sentinels
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// Sentinel is a custom resource in the API group cache.example.org.
type Sentinel struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Sentinel.
	// +required
	Spec SentinelSpec `json:"spec"`

	// status is the observed state of the Sentinel.
	// +optional
	Status SentinelStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// SentinelList is a list of Sentinel objects.
type SentinelList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Sentinel `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Sentinel{}, &SentinelList{})
		return nil
	})
}
