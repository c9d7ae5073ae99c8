package schema

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/crdschema"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

// shape returns the schema of a value that has a type of Kubernetes by convention, such as
// nodeSelector. The default must have this type too.
func (s *source) shape(v *value) (crdschema.Schema, bool) {
	if len(v.path) == 0 {
		return nil, false
	}
	name := v.path[len(v.path)-1]
	switch data := v.data.(type) {
	case map[string]any:
		switch {
		case endsIn(name, "nodeSelector", "labels", "annotations", "matchLabels") && allStrings(data):
			return mapOf(ofType("string")), true
		case endsIn(name, "resources") && hasOnly(data, "limits", "requests", "claims") && allQuantities(data):
			return objectOf(map[string]any{
				"limits":   map[string]any(mapOf(intOrString())),
				"requests": map[string]any(mapOf(intOrString())),
				"claims":   map[string]any(listOf(openObject())),
			}), true
		case endsIn(name, "affinity") && hasOnly(data, "nodeAffinity", "podAffinity", "podAntiAffinity") && allObjects(data):
			return objectOf(map[string]any{
				"nodeAffinity":    map[string]any(openObject()),
				"podAffinity":     map[string]any(openObject()),
				"podAntiAffinity": map[string]any(openObject()),
			}), true
		}
	case []any:
		if items, isShape := listShape(name); isShape && fits(data, items) {
			return listOf(items), true
		}
	}
	return s.scalarShape(name, v)
}

// endsIn reports whether a key is one of the names, or ends in one of them in camel case, as
// podLabels does.
func endsIn(key string, names ...string) bool {
	for _, name := range names {
		if key == name || strings.HasSuffix(key, strings.ToUpper(name[:1])+name[1:]) {
			return true
		}
	}
	return false
}

func listShape(name string) (items crdschema.Schema, isShape bool) {
	switch {
	case endsIn(name, "tolerations"):
		return objectOf(map[string]any{
			"key":               map[string]any(ofType("string")),
			"operator":          map[string]any(ofType("string")),
			"value":             map[string]any(ofType("string")),
			"effect":            map[string]any(ofType("string")),
			"tolerationSeconds": map[string]any(ofType("integer")),
		}), true
	case endsIn(name, "topologySpreadConstraints", "volumes", "volumeMounts", "initContainers", "hostAliases"),
		slices.Contains([]string{"env", "extraEnv", "extraEnvVars", "envFrom", "extraEnvFrom", "extraContainers"}, name):
		return openObject(), true
	case endsIn(name, "command", "args", "accessModes", "loadBalancerSourceRanges"):
		return ofType("string"), true
	}
	return nil, false
}

// fits reports whether all items are texts, or objects that have only properties of the schema.
func fits(list []any, items crdschema.Schema) bool {
	for _, item := range list {
		if _, isText := item.(string); isText && items["type"] == "string" {
			continue
		}
		object, isObject := item.(map[string]any)
		if !isObject {
			return false
		}
		for key, v := range object {
			want, exists := property(items, key)
			_, isText := v.(string)
			_, isInt := v.(int64)
			matches := exists && (want["type"] == "string" && isText || want["type"] == "integer" && isInt)
			if !isOpen(items) && !matches {
				return false
			}
		}
	}
	return true
}

// numeric matches the names of values that are numbers when they are set.
var numeric = lazyregexp.New(`^(?:max|min)[A-Z]|(?:^|[a-z])(?i:ports?|replicas|seconds|minutes|threshold|cpu|memory|percent|percentage|count|size|limit|period|timeout|retries|runAs(?:User|Group)|fsGroup|priority|weight|revisionHistoryLimit)$`)

var quantity = lazyregexp.New(`^[0-9]+(\.[0-9]+)?(m|[kMGTPE]i?)$`)

// scalarShape returns the schema of values that may be integers or strings, whichever the
// default is: quantities, ports with names, percentages, and numbers whose default is "".
func (s *source) scalarShape(name string, v *value) (crdschema.Schema, bool) {
	text, isText := v.data.(string)
	_, isInt := v.data.(int64)
	if v.isFloat || !isText && !isInt {
		if v.isFloat && endsIn(name, "tag", "version", "cpu", "memory") {
			s.openValue(v, "the default is a number with a fraction, so it accepts any value")
			return anything(), true
		}
		return nil, false
	}
	switch {
	case slices.Contains([]string{"targetPort", "maxUnavailable", "minAvailable", "maxSurge", "cpu", "memory", "ephemeral-storage"}, name),
		isText && quantity().MatchString(text),
		isText && text == "" && (numeric().MatchString(name) || len(v.path) > 1 && endsIn(v.path[len(v.path)-2], "nodePorts")),
		isInt && endsIn(name, "tag", "version", "storage", "size"):
		return intOrString(), true
	}
	return nil, false
}

func hasOnly(object map[string]any, keys ...string) bool {
	for key := range object {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}

func allObjects(object map[string]any) bool {
	for _, v := range object {
		if _, isObject := v.(map[string]any); !isObject {
			return false
		}
	}
	return true
}

func allStrings(object map[string]any) bool {
	for _, v := range object {
		if _, isText := v.(string); !isText {
			return false
		}
	}
	return true
}

// allQuantities reports whether the limits and requests of resources are quantities.
func allQuantities(resources map[string]any) bool {
	for key, v := range resources {
		if _, isList := v.([]any); isList != (key == "claims") {
			return false
		}
		list, isObject := v.(map[string]any)
		if key != "claims" && !isObject {
			return false
		}
		for _, amount := range list {
			switch amount.(type) {
			case string, int64:
			default:
				return false
			}
		}
	}
	return true
}
