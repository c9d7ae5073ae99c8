package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Fields need JSON tags to be stored, and their comments become the
// descriptions in the CRD. After a change run `operon generate`, or `make
// manifests generate`.

// NFSSpec is what the user of an NFS asks for.
type NFSSpec struct {
	// foo is an example: put the fields of an NFS in its place.
	// +optional
	Foo *string `json:"foo,omitempty"`
}

// NFSStatus is what the controller last saw.
type NFSStatus struct {
	// conditions tell how the object is doing. Ready is True once the object is
	// as its spec asks; its observedGeneration is that of the spec it speaks of.
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

// NFS is a custom resource of the API group sea.example.org.
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
