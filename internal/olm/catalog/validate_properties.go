package catalog

import (
	"encoding/base64"

	"github.com/blang/semver/v4"
	"github.com/operon-dev/operon/internal/jsonvalue"
)

// propertyKeys are the keys of properties that OLM interprets. All of them are strings.
var propertyKeys = map[string][]string{
	PropertyPackage:         {"packageName", "version"},
	PropertyPackageRequired: {"packageName", "versionRange"},
	PropertyGVK:             {"group", "kind", "version"},
	PropertyGVKRequired:     {"group", "kind", "version"},
	PropertyObject:          {"data"},
	PropertyCSVMetadata:     {},
	PropertyConstraint:      {},
}

// properties validates the properties of a bundle.
func (v *validator) properties(d Doc[Bundle]) {
	for i, p := range d.Value.Properties {
		path := []any{"properties", i}
		keys, known := propertyKeys[p.Type]
		value, isMap := p.Value.(map[string]any)
		switch {
		case p.Type == "":
			report(v, d, RulePropertyValue, path, "a property of bundle %s has no type", d.Value.Name)
		case p.Value == nil:
			report(v, d, RulePropertyValue, path, "property %s of bundle %s has no value", p.Type, d.Value.Name)
		case known && !isMap:
			report(v, d, RulePropertyValue, path, "the value of property %s of bundle %s is not an object", p.Type, d.Value.Name)
		}
		for _, key := range keys {
			if _, isString := value[key].(string); isMap && !isString {
				report(v, d, RulePropertyValue, path, "property %s of bundle %s needs %s, a string", p.Type, d.Value.Name, key)
			}
		}
		if data, isString := value["data"].(string); p.Type == PropertyObject && isString {
			if _, err := base64.StdEncoding.DecodeString(data); err != nil {
				report(v, d, RulePropertyValue, path, "data of property %s of bundle %s is not base64", p.Type, d.Value.Name)
			}
		}
		if p.Type == PropertyPackageRequired {
			if text := jsonvalue.String(value, "versionRange"); text != "" && !validRange(text) {
				report(v, d, RulePropertyValue, path, "versionRange %q of bundle %s is not a range of versions such as >=1.0.0 <2.0.0", text, d.Value.Name)
			}
		}
	}
}

func validRange(text string) bool {
	_, err := semver.ParseRange(text)
	return err == nil
}
