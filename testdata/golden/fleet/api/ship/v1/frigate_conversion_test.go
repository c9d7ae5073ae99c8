package v1

import (
	"fmt"
	"testing"

	shipv2 "example.org/fleet/api/ship/v2"
	"example.org/fleet/test/utils"
)

// These tests convert objects with random content to the other version and back.
// Users would lose data that does not survive. Each seed is one object. A run tries
// the first hundred seeds and stops at the first failure. To search for more, run
//
//	go test -run=^$ -fuzz=FuzzFrigateToV2AndBack ./api/ship/v1

// frigateFuzzFuncs change the random content, for a field that does not accept
// every value or that a conversion drops on purpose:
//
//	func(spec *FrigateSpec, c randfill.Continue) {
//		c.FillNoCustom(spec)
//		spec.Foo = nil
//	}
var frigateFuzzFuncs []any

func FuzzFrigateToV2AndBack(f *testing.F) {
	for seed := range int64(100) {
		f.Add(seed)
		if frigateToV2AndBack(seed) != nil {
			break // others would mostly report the same
		}
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		if err := frigateToV2AndBack(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
}

func frigateToV2AndBack(seed int64) error {
	before, converted, after := &Frigate{}, &shipv2.Frigate{}, &Frigate{}
	utils.Fill(before, seed, frigateFuzzFuncs...)
	if err := before.ConvertTo(converted); err != nil {
		return err
	}
	if err := after.ConvertFrom(converted); err != nil {
		return err
	}
	if diff := utils.Diff(before, after); diff != "" {
		return fmt.Errorf("from v1 to v2 and back (-before +after):\n%s", diff)
	}
	return nil
}

func FuzzFrigateFromV2AndBack(f *testing.F) {
	for seed := range int64(100) {
		f.Add(seed)
		if frigateFromV2AndBack(seed) != nil {
			break // others would mostly report the same
		}
	}
	f.Fuzz(func(t *testing.T, seed int64) {
		if err := frigateFromV2AndBack(seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	})
}

func frigateFromV2AndBack(seed int64) error {
	before, converted, after := &shipv2.Frigate{}, &Frigate{}, &shipv2.Frigate{}
	utils.Fill(before, seed, frigateFuzzFuncs...)
	if err := converted.ConvertFrom(before); err != nil {
		return err
	}
	if err := converted.ConvertTo(after); err != nil {
		return err
	}
	if diff := utils.Diff(before, after); diff != "" {
		return fmt.Errorf("from v2 to v1 and back (-before +after):\n%s", diff)
	}
	return nil
}
