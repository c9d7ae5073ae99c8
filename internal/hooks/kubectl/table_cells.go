package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// hasPlainTable reports whether the table of a kind has only the columns NAME and AGE.
func hasPlainTable(k kinds.Kind) bool {
	return slices.Contains(withoutCells, k.Resource) || isCustom(k)
}

// isCustom reports whether a kind is defined by a CRD.
func isCustom(k kinds.Kind) bool {
	return strings.Contains(k.Group, ".") && !strings.HasSuffix(k.Group, ".k8s.io")
}

// printerColumns returns the additionalPrinterColumns of a CRD in the syntax of
// -o custom-columns. It returns "" when there are none.
func (r *runner) printerColumns(k kinds.Kind) string {
	crd := r.api.CRD(k)
	if crd == nil {
		return ""
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		list, _ := version["additionalPrinterColumns"].([]any)
		if version["name"] != k.Version || len(list) == 0 {
			continue
		}
		columns := []string{"NAME:.metadata.name"}
		if r.allNamespaces {
			columns = slices.Insert(columns, 0, "NAMESPACE:.metadata.namespace")
		}
		for _, c := range list {
			column, _ := c.(map[string]any)
			if n, isNumber := column["priority"].(int64); isNumber && n > 0 && r.output != "wide" {
				continue // only with -o wide
			}
			columns = append(columns, fmt.Sprintf("%s:%s", strings.ToUpper(fmt.Sprint(column["name"])), column["jsonPath"]))
		}
		return strings.Join(columns, ",")
	}
	return ""
}

func lookup(o map[string]any, path string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o, strings.Split(path, ".")...)
	return v
}

// text returns a cell with the value of a field.
func text(path string) func(map[string]any) string {
	return func(o map[string]any) string {
		if v, isText := lookup(o, path).(string); isText {
			return cmp.Or(v, "<none>")
		}
		return "<none>"
	}
}

// number returns a cell with a number, 0 by default.
func number(path string) func(map[string]any) string {
	return func(o map[string]any) string {
		if v := lookup(o, path); v != nil {
			return fmt.Sprint(v)
		}
		return "0"
	}
}

// count returns a cell with the number of keys.
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
