package utils

import (
	"cmp"
	"fmt"
	"math/rand"
	"strconv"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
)

// Fill sets the fields of an object to random values, which depend on the seed only.
// Kind and API version stay empty. A function such as
//
//	func(size *Size, c randfill.Continue)
//
// creates the values of its type; it may call c.FillNoCustom first.
func Fill(obj any, seed int64, custom ...any) {
	word := func(s *string, c randfill.Continue) { *s = strconv.FormatUint(c.Uint64(), 36) }
	fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), scheme.Codecs).
		NumElements(0, 2).
		MaxDepth(20). // limits recursive types
		Funcs(word).
		Funcs(custom...).
		Fill(obj)
}

// Diff returns the differences between two objects as lines with - and +, or "". Like
// the API, it treats a missing list and an empty list as equal.
func Diff(before, after any) string {
	if equality.Semantic.DeepEqual(before, after) {
		return ""
	}
	return cmp.Or(diff.Diff(before, after), fmt.Sprintf("-%#v\n+%#v\n", before, after))
}
