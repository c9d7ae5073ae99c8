package module

// Values are the values of a module or the global values, as far as files define them.
type Values struct {
	Key     string         // the key above the values
	Static  map[string]any // from values.yaml files
	Schemas Schemas
}

// Effective returns the values that hooks and the chart get for the given values of the
// ConfigMap. The ConfigMap overrides the static values; schema defaults fill the gaps.
func (v Values) Effective(config map[string]any) map[string]any {
	values := withDefaults(v.Schemas.Config, merge(v.Static))
	return withDefaults(v.Schemas.Values, merge(values, config))
}

// CheckConfig validates the values of the ConfigMap as addon-operator does, without
// static values. An empty section is not validated.
func (v Values) CheckConfig(config map[string]any) []Violation {
	if len(config) == 0 {
		return nil
	}
	return Check(v.Schemas.Config, merge(withDefaults(v.Schemas.Config, nil), config))
}
