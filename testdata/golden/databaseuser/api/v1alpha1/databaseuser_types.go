/*
Copyright 2026.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Fields need JSON tags to be stored, and their comments become the
// descriptions in the CRD. After a change run `operon generate`, or `make
// manifests generate`.

// DatabaseUserSpec is what the user of a DatabaseUser asks for.
type DatabaseUserSpec struct {
	// foo is an example: put the fields of a DatabaseUser in its place.
	// +optional
	Foo *string `json:"foo,omitempty"`
}

// DatabaseUserStatus is what the controller last saw.
type DatabaseUserStatus struct {
	// conditions tell how the object is doing. Ready is True once the object is
	// as its spec asks; its observedGeneration is that of the spec it speaks of.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// +kubebuilder:storageversion
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// DatabaseUser is a custom resource of the API group mygroup.handsomeguy.cn.
type DatabaseUser struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the desired state of the DatabaseUser.
	// +required
	Spec DatabaseUserSpec `json:"spec"`

	// status is the observed state of the DatabaseUser.
	// +optional
	Status DatabaseUserStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// DatabaseUserList is a list of DatabaseUser objects.
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
