package chart

import (
	"fmt"
	"maps"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"helm.sh/helm/v3/pkg/chart"
)

// coalesce adds the defaults of a chart and of its dependencies to values, and returns values.
// Objects are merged. A null removes a default, unless keepNulls is set.
func coalesce(c *chart.Chart, values map[string]any, keepNulls bool) (map[string]any, error) {
	for key, defaultValue := range c.Values {
		value, exists := values[key]
		object, isObject := value.(map[string]any)
		switch {
		case !exists:
			values[key] = jsonvalue.Clone(defaultValue)
		case value == nil && !keepNulls:
			delete(values, key)
		case isObject:
			if defaults, both := defaultValue.(map[string]any); both {
				addDefaults(object, clone(defaults), keepNulls || isDependency(c, key))
			}
		}
	}
	for _, d := range c.Dependencies() {
		own := map[string]any{}
		if v, exists := values[d.Name()]; exists {
			var isObject bool
			if own, isObject = v.(map[string]any); !isObject {
				return nil, &Error{File: "values.yaml", Msg: fmt.Sprintf("%s must be an object, because a dependency has this name", d.Name())}
			}
		}
		mergeGlobals(own, values)
		coalesced, err := coalesce(d, own, keepNulls)
		if err != nil {
			return nil, err
		}
		values[d.Name()] = coalesced
	}
	return values, nil
}

// clone returns a deep copy that is never nil.
func clone(values map[string]any) map[string]any {
	if values == nil {
		return map[string]any{}
	}
	other, _ := jsonvalue.Clone(values).(map[string]any)
	return other
}

func isDependency(c *chart.Chart, name string) bool {
	for _, d := range c.Dependencies() {
		if d.Name() == name {
			return true
		}
	}
	return false
}

// addDefaults adds defaults to an object for keys that it does not have. A null removes a default,
// unless keepNulls is set. The object gets parts of the defaults rather than copies.
func addDefaults(object, defaults map[string]any, keepNulls bool) {
	for key, v := range defaults {
		existing, exists := object[key]
		inner, isObject := existing.(map[string]any)
		innerDefaults, both := v.(map[string]any)
		switch {
		case !exists:
			object[key] = v
		case existing == nil && v != nil && !keepNulls:
			delete(object, key)
		case isObject && both:
			addDefaults(inner, innerDefaults, keepNulls)
		}
	}
}

// mergeGlobals merges the global values of the parent into a dependency's. The values of
// the parent win, except that they do not replace an object by another value, or the reverse.
func mergeGlobals(own, parent map[string]any) {
	ownGlobals, isObject := own["global"].(map[string]any)
	if _, exists := own["global"]; exists && !isObject {
		return
	}
	parentGlobals, isObject := parent["global"].(map[string]any)
	if _, exists := parent["global"]; exists && !isObject {
		return
	}
	if ownGlobals == nil {
		ownGlobals = map[string]any{}
	}
	for key, v := range parentGlobals {
		ownValue, exists := ownGlobals[key]
		ownObject, ownIsObject := ownValue.(map[string]any)
		object, isObject := v.(map[string]any)
		switch object = maps.Clone(object); { // objects inside are shared with the parent, as in Helm
		case isObject && ownIsObject:
			addDefaults(object, ownObject, true)
			ownGlobals[key] = object
		case isObject && !exists:
			ownGlobals[key] = object
		case !isObject && !ownIsObject:
			ownGlobals[key] = v
		}
	}
	own["global"] = ownGlobals
}

// lookup returns the value at a path, or nil.
func lookup(values map[string]any, path []string) any {
	var v any = values
	for _, step := range path {
		object, isObject := v.(map[string]any)
		if !isObject {
			return nil
		}
		v = object[step]
	}
	return v
}
