package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/property"
)

// The types of properties that OLM interprets.
const (
	PropertyPackage         = property.TypePackage
	PropertyPackageRequired = property.TypePackageRequired
	PropertyGVK             = property.TypeGVK
	PropertyGVKRequired     = property.TypeGVKRequired
	PropertyObject          = property.TypeBundleObject
	PropertyCSVMetadata     = property.TypeCSVMetadata
	PropertyConstraint      = property.TypeConstraint

	maxOpenShiftVersion = "olm.maxOpenShiftVersion"
)

// propertyKeys are the keys without which OLM cannot use a property. All of them are strings.
var propertyKeys = map[string][]string{
	PropertyPackage:         {"packageName", "version"},
	PropertyPackageRequired: {"packageName", "versionRange"},
	PropertyGVK:             {"group", "kind", "version"},
	PropertyGVKRequired:     {"group", "kind", "version"},
	PropertyObject:          {"data"},
	PropertyCSVMetadata:     {},
	PropertyConstraint:      {},
}

// Property is a property or a dependency of a bundle, or a property in a catalog.
type Property struct {
	Type  string `json:"type" yaml:"type"`
	Value any    `json:"value" yaml:"value"`
}

// Problem returns why opm or OLM refuse or cannot use a property of a bundle or a catalog, or "".
func (p Property) Problem() string {
	keys, known := propertyKeys[p.Type]
	value, isMap := p.Value.(map[string]any)
	switch {
	case p.Type == "":
		return "a property has no type"
	case p.Value == nil:
		return fmt.Sprintf("property %s has no value", p.Type)
	case known && !isMap:
		return fmt.Sprintf("the value of property %s is not an object", p.Type)
	}
	for _, key := range keys {
		if _, isString := value[key].(string); !isString {
			return fmt.Sprintf("property %s needs %s, a string", p.Type, key)
		}
	}
	if err := p.decode(); err != nil {
		return fmt.Sprintf("property %s: %s", p.Type, err)
	}
	if text, _ := value["versionRange"].(string); p.Type == PropertyPackageRequired && text != "" && !IsRange(text) {
		return fmt.Sprintf("versionRange %q is not a range of versions such as >=1.0.0 <2.0.0", text)
	}
	return ""
}

// decode returns why opm cannot decode the value, or nil.
func (p Property) decode() error {
	value, err := json.Marshal(p.Value)
	if err != nil {
		return err
	}
	_, err = property.Parse([]property.Property{{Type: p.Type, Value: value}})
	if parse, is := errors.AsType[property.ParseError](err); is {
		err = parse.Err
	}
	if mismatch, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return fmt.Errorf("%s: a %s is not valid here", mismatch.Field, mismatch.Value)
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// Warning returns a warning if the value is a number where a version belongs, because the number 4.20 is 4.2. Otherwise it
// returns "".
func (p Property) Warning() string {
	switch p.Value.(type) {
	case int, int64, float64:
		if p.Type == maxOpenShiftVersion {
			return fmt.Sprintf("the value of %s is the number %v, not a version", p.Type, p.Value)
		}
	}
	return ""
}
