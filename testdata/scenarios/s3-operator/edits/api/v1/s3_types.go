package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// S3Spec is the desired state of an S3.
type S3Spec struct {
	// Bucket is the name of the bucket in the cloud account.
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a bucket cannot be renamed"
	Bucket string `json:"bucket"`
	// Region of the bucket.
	// +kubebuilder:default=eu-north-1
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a bucket cannot be moved"
	Region string `json:"region,omitempty"`
	// Versioned keeps old versions of objects.
	// +optional
	Versioned bool `json:"versioned,omitempty"`
}

// S3Status is the observed state of an S3.
type S3Status struct {
	// URL of the bucket.
	// +optional
	URL string `json:"url,omitempty"`
	// Conditions of the bucket. Ready summarizes them.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Bucket",type=string,JSONPath=`.spec.bucket`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`

// S3 is a bucket.
type S3 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	Spec   S3Spec   `json:"spec"`
	Status S3Status `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// S3List is a list of S3.
type S3List struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []S3 `json:"items"`
}

func init() {
	SchemeBuilder.Register(func(s *runtime.Scheme) error {
		s.AddKnownTypes(GroupVersion, &S3{}, &S3List{})
		return nil
	})
}
