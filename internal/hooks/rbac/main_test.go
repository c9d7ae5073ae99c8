//go:build testall

package rbac

import (
	"testing"

	"github.com/operon-dev/operon/internal/testkit/testlog"
)

func TestMain(m *testing.M) { testlog.Main(m) }
