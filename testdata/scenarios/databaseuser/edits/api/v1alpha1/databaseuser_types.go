package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DatabaseUserSpec is the desired state of a DatabaseUser.
type DatabaseUserSpec struct {
	// User is the name inside the database.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a user keeps its name"
	User string `json:"user"`
	// Password is a key of a Secret in the same namespace.
	Password corev1.SecretKeySelector `json:"password"`
}

// DatabaseUserStatus is the observed state of a DatabaseUser.
type DatabaseUserStatus struct {
	// Conditions of the user. Ready summarizes them.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dbu
// +kubebuilder:printcolumn:name="User",type=string,JSONPath=`.spec.user`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`

// DatabaseUser is a user inside a database.
type DatabaseUser struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   DatabaseUserSpec   `json:"spec"`
	Status DatabaseUserStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// DatabaseUserList is a list of DatabaseUser.
type DatabaseUserList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []DatabaseUser `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &DatabaseUser{}, &DatabaseUserList{})
		return nil
	})
}
