package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Every field needs a JSON tag. The comments become the descriptions in the CRD.
// After a change, run `operon generate` or `make manifests generate`.

// BusyboxSpec is the desired state of a Busybox.
type BusyboxSpec struct {
	// size: number of pods.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=1
	// +optional
	Size *int32 `json:"size,omitempty"`
}

// BusyboxStatus is the observed state of a Busybox.
type BusyboxStatus struct {
	// conditions describe the state of the object. Available is True when enough pods of the
	// Deployment are available; during a rollout, they can be those of the previous spec.
	// Degraded is True when the Deployment makes no progress, or cannot be written.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Available,type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Available")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// Busybox is a custom resource in the API group cache.example.org.
type Busybox struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the Busybox.
	// +required
	Spec BusyboxSpec `json:"spec"`

	// status is the observed state of the Busybox.
	// +optional
	Status BusyboxStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// BusyboxList is a list of Busybox objects.
type BusyboxList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Busybox `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &Busybox{}, &BusyboxList{})
		return nil
	})
}
