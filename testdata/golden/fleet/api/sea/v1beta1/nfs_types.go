package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Every field needs a JSON tag. The comments become the descriptions in the CRD.
// After a change, run `operon generate` or `make manifests generate`.

// NFSSpec is the desired state of an NFS.
type NFSSpec struct {
	// foo is an example field. Replace it with the fields of an NFS.
	// +optional
	Foo *string `json:"foo,omitempty"`
}

// NFSStatus is the observed state of an NFS.
type NFSStatus struct {
	// conditions describe the state of the object. Ready is True when the actual state
	// matches the spec whose generation is in observedGeneration.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=nfs,scope=Cluster
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// NFS is a custom resource in the API group sea.example.org.
type NFS struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the NFS.
	// +required
	Spec NFSSpec `json:"spec"`

	// status is the observed state of the NFS.
	// +optional
	Status NFSStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// NFSList is a list of NFS objects.
type NFSList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []NFS `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &NFS{}, &NFSList{})
		return nil
	})
}
