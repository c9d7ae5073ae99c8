package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
)

// conflict is the error about a bundle of the catalog that has the name of another one. It says so if
// only the image differs.
func (x Addition) conflict(old Doc[Bundle]) error {
	was, next := old.Value.Image, x.Bundle.Image
	found := fmt.Sprintf("%s:%d: the catalog has", old.File, old.Line)
	const hint = "to replace the bundle: --overwrite"
	moved, err := sameJSON(withImage(old.Value, next), x.Bundle)
	if err != nil {
		return err
	}
	switch {
	case was == "" && next != "":
		return fault.Usage(hint, "%s %s with its manifests, not with the image %s", found, x.Bundle.Name, next)
	case was != "" && next == "":
		return fault.Usage(hint+"; to keep it: --image "+was, "%s %s with the image %s, not with its manifests", found, x.Bundle.Name, was)
	case moved:
		return fault.Usage(hint+"; to keep it: --image "+was, "%s %s with the image %s; only the image differs", found, x.Bundle.Name, was)
	}
	return fault.Usage("use another version, or replace the bundle with --overwrite", "%s another bundle %s", found, x.Bundle.Name)
}

// withImage returns a bundle with another image.
func withImage(b Bundle, image string) Bundle {
	b.RelatedImages = slices.Clone(b.RelatedImages)
	for i := range b.RelatedImages {
		if b.RelatedImages[i].Image == b.Image {
			b.RelatedImages[i].Image = image
		}
	}
	slices.SortStableFunc(b.RelatedImages, func(a, b RelatedImage) int { return cmp.Compare(a.Image, b.Image) })
	b.Image = image
	return b
}

// sameJSON reports whether two values are equal in a file.
func sameJSON(a, b any) (bool, error) {
	var values [2]any
	for i, v := range []any{a, b} {
		src, err := json.Marshal(v)
		if err != nil {
			return false, err
		}
		if err := json.Unmarshal(src, &values[i]); err != nil {
			return false, err
		}
	}
	return reflect.DeepEqual(values[0], values[1]), nil
}
