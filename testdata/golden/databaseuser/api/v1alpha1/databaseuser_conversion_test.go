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
	"fmt"
	"testing"

	mygroupv1 "handsomeguy.cn/databaseuser/api/v1"
	"handsomeguy.cn/databaseuser/test/utils"
)

// These tests convert objects with random content to the other version and back.
// Users would lose data that does not survive. Each seed is one object. A run tries
// the first hundred seeds and stops at the first failure. To search for more, run
//
//	go test -run=^$ -fuzz=FuzzDatabaseUserToV1AndBack ./api/v1alpha1

// databaseuserFuzzFuncs change the random content, for a field that does not accept
// every value or that a conversion drops on purpose:
//
//	func(spec *DatabaseUserSpec, c randfill.Continue) {
//		c.FillNoCustom(spec)
//		spec.Foo = nil
//	}
var databaseuserFuzzFuncs []any

func FuzzDatabaseUserToV1AndBack(f *testing.F) {
	for seed := range int64(100) {
		f.Add(seed)
		if databaseuserToV1AndBack(seed) != nil {
			break // others would mostly report the same
		}
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		if err := databaseuserToV1AndBack(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
}

func databaseuserToV1AndBack(seed int64) error {
	before, converted, after := &DatabaseUser{}, &mygroupv1.DatabaseUser{}, &DatabaseUser{}
	utils.Fill(before, seed, databaseuserFuzzFuncs...)
	if err := before.ConvertTo(converted); err != nil {
		return err
	}
	if err := after.ConvertFrom(converted); err != nil {
		return err
	}
	if diff := utils.Diff(before, after); diff != "" {
		return fmt.Errorf("from v1alpha1 to v1 and back (-before +after):\n%s", diff)
	}
	return nil
}

func FuzzDatabaseUserFromV1AndBack(f *testing.F) {
	for seed := range int64(100) {
		f.Add(seed)
		if databaseuserFromV1AndBack(seed) != nil {
			break // others would mostly report the same
		}
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		if err := databaseuserFromV1AndBack(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
}

func databaseuserFromV1AndBack(seed int64) error {
	before, converted, after := &mygroupv1.DatabaseUser{}, &DatabaseUser{}, &mygroupv1.DatabaseUser{}
	utils.Fill(before, seed, databaseuserFuzzFuncs...)
	if err := converted.ConvertFrom(before); err != nil {
		return err
	}
	if err := converted.ConvertTo(after); err != nil {
		return err
	}
	if diff := utils.Diff(before, after); diff != "" {
		return fmt.Errorf("from v1 to v1alpha1 and back (-before +after):\n%s", diff)
	}
	return nil
}
