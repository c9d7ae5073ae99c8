package generate

import (
	"errors"
	"slices"
	"testing"

	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// TestApart checks that a package and the copy that another generator uses share no errors until these are
// collected.
func TestApart(t *testing.T) {
	t.Parallel()
	roots, err := loader.LoadRoots("errors")
	if err != nil {
		t.Fatal(err)
	}
	root := roots[0]
	root.AddError(errors.New("before"))
	c := genall.GenerationContext{Roots: roots}
	collect := apart(&c, deepcopy.Generator{})
	c.Roots[0].AddError(errors.New("of the copy"))
	root.AddError(errors.New("of the root"))
	if len(root.Errors) != 2 || len(c.Roots[0].Errors) != 2 || len(c.Roots[0].Imports()) != len(root.Imports()) {
		t.Errorf("the root has %v, its copy %v", root.Errors, c.Roots[0].Errors)
	}
	collect()
	var got []string
	for _, e := range root.Errors {
		got = append(got, e.Msg)
	}
	if want := []string{"before", "of the root", "of the copy"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
