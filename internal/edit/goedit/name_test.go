package goedit

import (
	"slices"
	"testing"
)

// TestMakes distinguishes values of a type from other uses of its name.
func TestMakes(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"var _ = Ship{}":                    true,
		"var _ = &Ship{Guns: 2}":            true,
		"var _ = fleet.Ship{}":              true,
		"var _ = new(Ship)":                 true,
		"var _ = new(fleet.Ship)":           true,
		"type Ship struct{}":                false,
		"func (s *Ship) Sail() {}":          false,
		"var _ = []Ship{}":                  false,
		"var _ = Shipyard{}":                false,
		"var _ = Ship.new(Ship)":            false,
		"var _ = [][]int{{1}}; var _ *Ship": false,
	}
	for src, want := range tests {
		f, err := Parse("x.go", []byte("package x\n\n"+src+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Makes("Ship"); got != want {
			t.Errorf("%s: got %t", src, got)
		}
	}
}

func TestReceivers(t *testing.T) {
	t.Parallel()
	f, err := Parse("x.go", []byte("package x\n\nfunc (s *Ship) Sail() {}\nfunc (Port) Open() {}\nfunc (s Ship) Name() {}\nfunc (c *Crew[T]) Add() {}\nfunc (p (*Pair[K, V])) Swap() {}\nfunc Frigate() {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Receivers(), []string{"Ship", "Port", "Crew", "Pair"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestImportsAndHas(t *testing.T) {
	t.Parallel()
	f, err := Parse("x.go", []byte("package x\n\nimport (\n\t\"os\"\n\tshipv1 \"example.org/api/v1\"\n\t// +kubebuilder:scaffold:imports\n)\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Imports(), []string{"os", "example.org/api/v1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !f.Has(Marker("imports")) || f.Has(Marker("scheme")) {
		t.Error("the file must have the marker imports and no other")
	}
}
