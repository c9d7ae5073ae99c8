package kubeapi

import (
	"testing"

	"github.com/operon-dev/operon/internal/testkit/answers"
)

func TestMain(m *testing.M) { answers.Main(m) }
