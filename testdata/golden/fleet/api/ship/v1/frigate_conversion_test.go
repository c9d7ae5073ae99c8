package v1

import (
	"fmt"
	"testing"

	shipv2 "example.org/fleet/api/ship/v2"
	"example.org/fleet/test/utils"
)

// These tests convert objects with random content there and back: what is missing
// afterwards, users would lose as soon as the API server stores the other
// version. Each seed stands for one object. A run tries the first hundred, and
// stops at one that fails; to search for more, run
//
//	go test -run=^$ -fuzz=FuzzFrigateToV2AndBack ./api/ship/v1

// frigateFuzzFuncs change what the objects are filled with, where a field does
// not take any value, or where you decided that a conversion drops it:
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
			break // the next would mostly say the same
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
			break // the next would mostly say the same
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
