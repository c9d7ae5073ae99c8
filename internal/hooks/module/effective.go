package module

// Values are those of a module, or the global ones: what is known of them without
// a cluster.
type Values struct {
	Key     string         // what they stand below
	Static  map[string]any // of values.yaml files
	Schemas Schemas
}

// Effective are the values that hooks and the chart see, for what the ConfigMap
// has: the static ones below it, and defaults where there is nothing.
func (v Values) Effective(config map[string]any) map[string]any {
	values := withDefaults(v.Schemas.Config, merge(v.Static))
	return withDefaults(v.Schemas.Values, merge(values, config))
}

// CheckConfig judges what stands in the ConfigMap, as addon-operator does: static
// values count for nothing, and an empty section is not judged at all.
func (v Values) CheckConfig(config map[string]any) []Violation {
	if len(config) == 0 {
		return nil
	}
	return Check(v.Schemas.Config, merge(withDefaults(v.Schemas.Config, nil), config))
}
