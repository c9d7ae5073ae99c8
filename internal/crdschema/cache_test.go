package crdschema

import (
	"fmt"
	"testing"
)

// TestCacheIsLimited compiles more schemas than the cache holds.
func TestCacheIsLimited(t *testing.T) {
	for i := range maxSchemas + 10 {
		if _, err := NewValidator(Schema{"type": "object", "description": fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	schemaCache.Lock()
	defer schemaCache.Unlock()
	if n := len(schemaCache.schemas); n > maxSchemas {
		t.Errorf("the cache holds %d schemas, more than %d", n, maxSchemas)
	}
}
