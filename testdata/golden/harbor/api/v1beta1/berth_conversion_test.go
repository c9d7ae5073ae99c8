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

package v1beta1

import (
	"fmt"
	"testing"

	portv1 "example.org/harbor/api/v1"
	"example.org/harbor/test/utils"
)

// These tests convert objects with random content to the other version and back.
// Users would lose data that does not survive. Each seed is one object. A run tries
// the first hundred seeds and stops at the first failure. To search for more, run
//
//	go test -run=^$ -fuzz=FuzzBerthToV1AndBack ./api/v1beta1

// berthFuzzFuncs change the random content, for a field that does not accept
// every value or that a conversion drops on purpose:
//
//	func(spec *BerthSpec, c randfill.Continue) {
//		c.FillNoCustom(spec)
//		spec.Foo = nil
//	}
var berthFuzzFuncs []any

func FuzzBerthToV1AndBack(f *testing.F) {
	for seed := range int64(100) {
		f.Add(seed)
		if berthToV1AndBack(seed) != nil {
			break // others would mostly report the same
		}
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		if err := berthToV1AndBack(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
}

func berthToV1AndBack(seed int64) error {
	before, converted, after := &Berth{}, &portv1.Berth{}, &Berth{}
	utils.Fill(before, seed, berthFuzzFuncs...)
	if err := before.ConvertTo(converted); err != nil {
		return err
	}
	if err := after.ConvertFrom(converted); err != nil {
		return err
	}
	if diff := utils.Diff(before, after); diff != "" {
		return fmt.Errorf("from v1beta1 to v1 and back (-before +after):\n%s", diff)
	}
	return nil
}

func FuzzBerthFromV1AndBack(f *testing.F) {
	for seed := range int64(100) {
		f.Add(seed)
		if berthFromV1AndBack(seed) != nil {
			break // others would mostly report the same
		}
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		if err := berthFromV1AndBack(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
}

func berthFromV1AndBack(seed int64) error {
	before, converted, after := &portv1.Berth{}, &Berth{}, &portv1.Berth{}
	utils.Fill(before, seed, berthFuzzFuncs...)
	if err := converted.ConvertFrom(before); err != nil {
		return err
	}
	if err := converted.ConvertTo(after); err != nil {
		return err
	}
	if diff := utils.Diff(before, after); diff != "" {
		return fmt.Errorf("from v1 to v1beta1 and back (-before +after):\n%s", diff)
	}
	return nil
}
