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

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Every field needs a JSON tag. The comments become the descriptions in the CRD.
// After a change, run `operon generate` or `make manifests generate`.

// DatabaseUserSpec is the desired state of a DatabaseUser.
type DatabaseUserSpec struct {
	// foo is an example field. Replace it with the fields of a DatabaseUser.
	// +optional
	Foo *string `json:"foo,omitempty"`
}

// DatabaseUserStatus is the observed state of a DatabaseUser.
type DatabaseUserStatus struct {
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

// DatabaseUser is a custom resource in the API group mygroup.handsomeguy.cn.
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
