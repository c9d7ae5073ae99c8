package crdschema

import (
	"fmt"
	"testing"
)

// TestValidatorsAreLimited compiles more schemas than are kept.
func TestValidatorsAreLimited(t *testing.T) {
	for i := range maxValidators + 10 {
		if _, err := NewValidator(Schema{"type": "object", "description": fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	validators.Lock()
	defer validators.Unlock()
	if n := len(validators.compiled); n > maxValidators {
		t.Errorf("%d validators are kept, more than %d", n, maxValidators)
	}
}
