package kustomize

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
)

// TestGoMemoryLimit checks that GOMEMLIMIT, as a kubelet computes it, leaves some room below the
// limit of the container.
func TestGoMemoryLimit(t *testing.T) {
	t.Parallel()
	docs := documents(t, "manager", files(t, scaffolded(t, config()))[managerFile])
	container := at(docs[1], "spec", "template", "spec", "containers").([]any)[0]
	limit := resource.MustParse(at(container, "resources", "limits", "memory").(string))
	env := at(container, "env").([]any)
	source := at(env[0], "valueFrom", "resourceFieldRef")
	divisor := resource.MustParse(at(source, "divisor").(string))
	if at(source, "resource") != "limits.memory" || at(env[1], "name") != "GOMEMLIMIT" {
		t.Fatalf("the environment is %v", env)
	}
	value := strings.ReplaceAll(at(env[1], "value").(string), "$("+at(env[0], "name").(string)+")", fmt.Sprint(limit.Value()/divisor.Value()))
	bytes, err := strconv.ParseFloat(value, 64)
	if share := bytes / float64(limit.Value()); err != nil || share < 0.9 || share > 0.96 {
		t.Errorf("GOMEMLIMIT is %s: %v", value, err)
	}
}
