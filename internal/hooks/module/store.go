package module

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/chart"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// globalKey is the key of the global values.
const globalKey = "global"

// Store has the values that hooks read and patch, and changes them as addon-operator does. It
// has the global values and, unless it is for global hooks, the values of one module.
type Store struct {
	global, own  *section // own equals global for global hooks
	enabledFlags map[string]bool
}

// section has the sources of the values of a key, and the result.
type section struct {
	Values
	config  map[string]any // from the ConfigMap; nil if it has no such section
	initial map[string]any // set by earlier hooks
	patches []Operation    // by the hook that uses the store
	result  map[string]any
}

// NewStore returns a store for the values of a module; own is nil for global hooks. config has
// the values of the ConfigMap, and before has the values that earlier hooks set, each by the
// key of the module or global. Unknown keys and values that violate their schema are errors.
func NewStore(global Values, own *Values, config, before map[string]any) (*Store, error) {
	global.Key = globalKey
	s := &Store{global: &section{Values: global}, enabledFlags: map[string]bool{}}
	s.own = s.global
	if own != nil {
		s.own = &section{Values: *own}
	}
	for _, source := range []struct {
		name   string
		values map[string]any
		field  func(*section) *map[string]any
	}{
		{"configValues", config, func(c *section) *map[string]any { return &c.config }},
		{"values", before, func(c *section) *map[string]any { return &c.initial }},
	} {
		for _, key := range slices.Sorted(maps.Keys(source.values)) {
			c, known := s.section(key)
			values, isObject := source.values[key].(map[string]any)
			switch {
			case !known:
				return nil, fmt.Errorf("%s: unknown key %s: it must be %s", source.name, key, strings.Join(s.keys(), " or "))
			case !isObject:
				return nil, fmt.Errorf("%s: %s must be an object", source.name, key)
			}
			*source.field(c) = values
		}
	}
	for _, c := range s.all() {
		if violations := c.checkConfig(c.config); len(violations) > 0 {
			return nil, fmt.Errorf("configValues: %s", violationText(c.Key, violations))
		}
		if err := c.update(); err != nil {
			return nil, err
		}
	}
	if violations := checkValues(s.own.Schemas.Values, s.own.result); len(violations) > 0 {
		return nil, fmt.Errorf("values: %s", violationText(s.own.Key, violations))
	}
	return s, nil
}

// all returns the sections.
func (s *Store) all() []*section {
	if s.own == s.global {
		return []*section{s.global}
	}
	return []*section{s.global, s.own}
}

// keys returns the keys of the sections.
func (s *Store) keys() []string {
	var keys []string
	for _, c := range s.all() {
		keys = append(keys, c.Key)
	}
	return keys
}

// section returns the section with a key.
func (s *Store) section(key string) (c *section, known bool) {
	i := slices.Index(s.keys(), key)
	if i < 0 {
		return nil, false
	}
	return s.all()[i], true
}

// update computes the result. It leaves the result unchanged if the patches do not apply.
func (c *section) update() error {
	result, _, err := applyPatch(c.Key, merge(c.effective(c.config), c.initial), c.patches, true)
	if err == nil {
		c.result = result
	}
	return err
}

// violationText describes violations on one line.
func violationText(key string, violations []Violation) string {
	var texts []string
	for _, v := range violations {
		texts = append(texts, strings.Join(append([]string{key}, v.Path...), ".")+" "+v.Message)
	}
	return strings.Join(texts, "; ")
}

// Values returns the values that hooks read, by key, and the enabled flags that global hooks
// set.
func (s *Store) Values() map[string]any {
	values := s.results()
	for key, enabled := range s.enabledFlags {
		values[key] = enabled
	}
	return values
}

// results returns the values that hooks read, by key.
func (s *Store) results() map[string]any {
	return s.copyOf(func(c *section) map[string]any { return c.result })
}

// Config returns the values of the ConfigMap, by key. An absent section is nil.
func (s *Store) Config() map[string]any {
	return s.copyOf(func(c *section) map[string]any { return c.config })
}

// copyOf returns copies of a field of the sections, by key.
func (s *Store) copyOf(field func(*section) map[string]any) map[string]any {
	copies := map[string]any{}
	for _, c := range s.all() {
		if values := field(c); values != nil {
			copies[c.Key] = merge(values)
		} else {
			copies[c.Key] = nil
		}
	}
	return copies
}

// Files returns the contents of the values files for the next run of a hook, as JSON.
func (s *Store) Files() (values, config []byte, err error) {
	if values, err = json.Marshal(s.results()); err != nil {
		return nil, nil, err
	}
	config, err = json.Marshal(s.Config())
	return values, config, err
}

// ScriptFiles returns the contents of the values files for the enabled script, as JSON. The
// global values always have enabledModules, the enabled modules that precede this one.
func (s *Store) ScriptFiles() (values, config []byte, err error) {
	all := s.results()
	all[globalKey] = merge(map[string]any{"enabledModules": []any{}}, s.global.result)
	if values, err = json.Marshal(all); err != nil {
		return nil, nil, err
	}
	config, err = json.Marshal(s.Config())
	return values, config, err
}

// Rendered returns the objects of the module's chart for the current values. The error is the
// reason why addon-operator would not install the chart.
func (s *Store) Rendered(m Module, table *kubeapi.Kinds) ([]*unstructured.Unstructured, error) {
	if violations := checkValues(s.own.Schemas.Helm, s.own.result); len(violations) > 0 {
		return nil, fmt.Errorf("addon-operator does not install the chart: %s", violationText(s.own.Key, violations))
	}
	c, found, err := m.loadChart()
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("the module %s has no chart", m.Name)
	}
	files, err := chart.Render(c, m.chartValues(merge(s.global.result), merge(s.own.result)), m.release("default"), clusterOf(table))
	if err != nil {
		return nil, err
	}
	return chart.Objects(files)
}
