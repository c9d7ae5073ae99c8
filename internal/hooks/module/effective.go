package module

// Values are the values of a module, or the global values, that the files of a project
// define.
type Values struct {
	Key     string         // global, or the key of the module
	Static  map[string]any // from values.yaml files
	Schemas Schemas
}

// effective returns the values for hooks and for the chart. config has the values of the
// ConfigMap, which override the static values. Schemas provide defaults for absent values.
func (v Values) effective(config map[string]any) map[string]any {
	values := withDefaults(v.Schemas.Config, merge(v.Static))
	return withDefaults(v.Schemas.Values, merge(values, config))
}

// checkConfig validates the values of the ConfigMap as addon-operator does: without the
// static values, and not at all if they are empty.
func (v Values) checkConfig(config map[string]any) []Violation {
	if len(config) == 0 {
		return nil
	}
	return checkValues(v.Schemas.Config, merge(withDefaults(v.Schemas.Config, nil), config))
}
