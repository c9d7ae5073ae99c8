package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// plain reports whether the table of a kind has a name and an age only: those of
// CRDs, and a few others.
func plain(k kinds.Kind) bool {
	return slices.Contains(withoutCells, k.Resource) || custom(k)
}

// custom reports whether a kind is that of a CRD.
func custom(k kinds.Kind) bool {
	return strings.Contains(k.Group, ".") && !strings.HasSuffix(k.Group, ".k8s.io")
}

// printed are the columns that a CRD asks for, as custom columns, or "".
func (r *run) printed(k kinds.Kind) (string, error) {
	if !custom(k) {
		return "", nil
	}
	crds, err := r.kindOf("customresourcedefinitions.apiextensions.k8s.io")
	if err != nil {
		return "", err
	}
	crd, err := r.api.Get(r, crds, "", k.String())
	if err != nil {
		return "", err
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		list, _ := version["additionalPrinterColumns"].([]any)
		if version["name"] != k.Version || len(list) == 0 {
			continue
		}
		columns := []string{"NAME:.metadata.name"}
		if r.everywhere {
			columns = slices.Insert(columns, 0, "NAMESPACE:.metadata.namespace")
		}
		for _, c := range list {
			column, _ := c.(map[string]any)
			if n, isNumber := column["priority"].(int64); isNumber && n > 0 && r.output != "wide" {
				continue // of -o wide
			}
			columns = append(columns, fmt.Sprintf("%s:%s", strings.ToUpper(fmt.Sprint(column["name"])), column["jsonPath"]))
		}
		return strings.Join(columns, ","), nil
	}
	return "", nil
}

func lookup(o map[string]any, path string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o, strings.Split(path, ".")...)
	return v
}

// text is a cell with the value of a field.
func text(path string) func(map[string]any) string {
	return func(o map[string]any) string {
		if v, isText := lookup(o, path).(string); isText {
			return cmp.Or(v, "<none>")
		}
		return "<none>"
	}
}

// number is a cell with a number, 0 when it is not there.
func number(path string) func(map[string]any) string {
	return func(o map[string]any) string {
		if v := lookup(o, path); v != nil {
			return fmt.Sprint(v)
		}
		return "0"
	}
}

// count is a cell with the number of keys.
func count(path string) func(map[string]any) string {
	return func(o map[string]any) string {
		keys, _ := lookup(o, path).(map[string]any)
		return fmt.Sprint(len(keys))
	}
}

func ready(o map[string]any) string {
	wanted := "1"
	if v := lookup(o, "spec.replicas"); v != nil {
		wanted = fmt.Sprint(v)
	}
	return number("status.readyReplicas")(o) + "/" + wanted
}

func nodeStatus(o map[string]any) string {
	status := "Unknown"
	conditions, _ := lookup(o, "status.conditions").([]any)
	for _, v := range conditions {
		if c, _ := v.(map[string]any); c["type"] == "Ready" {
			status = map[bool]string{true: "Ready", false: "NotReady"}[c["status"] == "True"]
		}
	}
	if lookup(o, "spec.unschedulable") == true {
		status += ",SchedulingDisabled"
	}
	return status
}
