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

package controller

// This test is for own.go. Delete this file together with it.

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestOwn(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "owner", UID: "1"}}
	stranger := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "stranger", UID: "2"}}
	get := func() *corev1.Secret {
		secret := &corev1.Secret{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "one", Name: "owned"}, secret); err != nil {
			t.Fatal(err)
		}
		return secret
	}
	ownAs := func(owner client.Object, value string) error {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "owned"}}
		return own(t.Context(), c, owner, secret, func() error {
			secret.Data = map[string][]byte{"key": []byte(value)}
			return nil
		})
	}
	if err := ownAs(owner, "a"); err != nil {
		t.Fatalf("a new object: %v", err)
	}
	created := get()
	if !metav1.IsControlledBy(created, owner) || string(created.Data["key"]) != "a" {
		t.Errorf("created %+v, want key a and the owner as its controller", created)
	}
	if err := ownAs(owner, "a"); err != nil {
		t.Fatalf("no change: %v", err)
	}
	if version := get().ResourceVersion; version != created.ResourceVersion {
		t.Errorf("an update without a change was written: resource version %s became %s", created.ResourceVersion, version)
	}
	if err := ownAs(owner, "b"); err != nil {
		t.Fatalf("a change: %v", err)
	}
	if value := string(get().Data["key"]); value != "b" {
		t.Errorf("key is %q after a change to b", value)
	}
	if err := ownAs(stranger, "c"); err == nil || string(get().Data["key"]) != "b" {
		t.Errorf("an object of another owner was changed: error %v, key %s", err, get().Data["key"])
	}
}
