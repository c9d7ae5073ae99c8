package listing_test

import (
	"testing"

	"github.com/operon-dev/operon/internal/testkit/gentest"
)

func TestMain(m *testing.M) { gentest.Main(m) }
