package module

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/chart"
	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// globalKey is the key of the global values.
const globalKey = "global"

// Store holds the values while hooks run, as addon-operator does. Hooks read and patch
// them. A Store has the global values and, unless it is for global hooks, the values of
// one module.
type Store struct {
	global, own *layers // own is global for global hooks
	switches    map[string]bool
}

// layers are the sources of a section of values.
type layers struct {
	Values
	config  map[string]any // from the ConfigMap; nil without a section there
	given   map[string]any // patched by other hooks
	patches []Operation    // by the tested hook
	result  map[string]any
}

// NewStore returns a store for the values of a module; own is nil for global hooks.
// config has the values of the ConfigMap and before the values patched by earlier hooks,
// by module key or global. The error says which of them violates its schema or has an
// unknown key.
func NewStore(global Values, own *Values, config, before map[string]any) (*Store, error) {
	s := &Store{global: &layers{Values: global}, switches: map[string]bool{}}
	s.own = s.global
	if own != nil {
		s.own = &layers{Values: *own}
	}
	for _, source := range []struct {
		name   string
		values map[string]any
		into   func(*layers) *map[string]any
	}{
		{"configValues", config, func(l *layers) *map[string]any { return &l.config }},
		{"values", before, func(l *layers) *map[string]any { return &l.given }},
	} {
		for _, key := range slices.Sorted(maps.Keys(source.values)) {
			l := s.layer(key)
			section, isTable := source.values[key].(map[string]any)
			switch {
			case l == nil:
				return nil, fmt.Errorf("%s: %s is not known here: %s", source.name, key, strings.Join(s.keys(), " or "))
			case !isTable:
				return nil, fmt.Errorf("%s: %s must be an object", source.name, key)
			}
			*source.into(l) = section
		}
	}
	for _, key := range s.keys() {
		l := s.layer(key)
		if wrong := l.CheckConfig(l.config); len(wrong) > 0 {
			return nil, fmt.Errorf("configValues: %s", violationText(l.Key, wrong))
		}
		if err := l.commit(); err != nil {
			return nil, err
		}
	}
	if wrong := Check(s.own.Schemas.Values, s.own.result); len(wrong) > 0 {
		return nil, fmt.Errorf("values: %s", violationText(s.own.Key, wrong))
	}
	return s, nil
}

// keys returns the keys of the sections.
func (s *Store) keys() []string {
	if s.own == s.global {
		return []string{globalKey}
	}
	return []string{globalKey, s.own.Key}
}

func (s *Store) layer(key string) *layers {
	switch key {
	case globalKey:
		return s.global
	case s.own.Key:
		return s.own
	}
	return nil
}

// commit computes the values. They are unchanged if the patches do not apply.
func (l *layers) commit() error {
	result, _, err := patched(l.Key, merge(l.Effective(l.config), l.given), l.patches, true)
	if err == nil {
		l.result = result
	}
	return err
}

// violationText describes violations on one line.
func violationText(key string, all []Violation) string {
	var texts []string
	for _, m := range all {
		texts = append(texts, strings.Join(append([]string{key}, m.Path...), ".")+" "+m.Message)
	}
	return strings.Join(texts, "; ")
}

// Values returns the values that hooks read, by key, and the enabled keys that global
// hooks set.
func (s *Store) Values() map[string]any {
	all := s.sections(func(l *layers) map[string]any { return l.result })
	for key, on := range s.switches {
		all[key] = on
	}
	return all
}

// Config returns the values of the ConfigMap, by key; nil for an absent section.
func (s *Store) Config() map[string]any {
	return s.sections(func(l *layers) map[string]any { return l.config })
}

func (s *Store) sections(of func(*layers) map[string]any) map[string]any {
	all := map[string]any{}
	for _, key := range s.keys() {
		if section := of(s.layer(key)); section != nil {
			all[key] = merge(section)
		} else {
			all[key] = nil
		}
	}
	return all
}

// Files returns the values for the next run of a hook, as JSON.
func (s *Store) Files() (values, config []byte, err error) {
	if values, err = json.Marshal(s.sections(func(l *layers) map[string]any { return l.result })); err != nil {
		return nil, nil, err
	}
	config, err = json.Marshal(s.Config())
	return values, config, err
}

// ScriptFiles returns the values for the enabled script, as JSON. They include
// enabledModules, the enabled modules before this one, unless the values already have it.
func (s *Store) ScriptFiles() (values, config []byte, err error) {
	all := s.sections(func(l *layers) map[string]any { return l.result })
	all[globalKey] = merge(map[string]any{"enabledModules": []any{}}, s.global.result)
	if values, err = json.Marshal(all); err != nil {
		return nil, nil, err
	}
	config, err = json.Marshal(s.Config())
	return values, config, err
}

// Names of the files in messages.
const (
	valuesPatchPath = "$VALUES_JSON_PATCH_PATH"
	configPatchPath = "$CONFIG_VALUES_JSON_PATCH_PATH"
)

// Read parses the patches of a hook. apply applies them and validates the resulting
// values. It applies the patch of the ConfigMap first, and keeps it if the other patch
// fails.
func (s *Store) Read(values, config []byte) (apply func() error, err error) {
	configPatch, err := ParsePatch(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configPatchPath, err)
	}
	valuesPatch, err := ParsePatch(values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", valuesPatchPath, err)
	}
	before := s.own.result // the hook patches the values that it read
	return func() error {
		if err := s.applyConfig(configPatch); err != nil {
			return fmt.Errorf("%s: %w", configPatchPath, err)
		}
		if err := s.applyValues(before, valuesPatch); err != nil {
			return fmt.Errorf("%s: %w", valuesPatchPath, err)
		}
		return nil
	}, nil
}

func (s *Store) applyConfig(ops []Operation) error {
	own, err := s.split(ops)
	if err != nil {
		return err
	}
	next, changed, err := patched(s.own.Key, s.own.config, own, false)
	if err != nil {
		return err
	}
	if changed {
		if wrong := s.own.CheckConfig(next); len(wrong) > 0 {
			return fmt.Errorf("%s", violationText(s.own.Key, wrong))
		}
		s.own.config = next
		if err := s.own.commit(); err != nil {
			return err
		}
	}
	return s.applySwitches(ops)
}

func (s *Store) applyValues(before map[string]any, ops []Operation) error {
	own, err := s.split(ops)
	if err != nil {
		return err
	}
	next, changed, err := patched(s.own.Key, before, own, false)
	if err != nil {
		return err
	}
	if changed {
		if wrong := Check(s.own.Schemas.Values, next); len(wrong) > 0 {
			return fmt.Errorf("%s", violationText(s.own.Key, wrong))
		}
		s.own.patches = compacted(s.own.patches, own)
		if err := s.own.commit(); err != nil {
			return err
		}
	}
	return s.applySwitches(ops)
}

// split rejects operations that the hook may not do, applies those that enable modules,
// and returns the others.
func (s *Store) split(ops []Operation) ([]Operation, error) {
	if err := checkAllowed(ops, s.own.Key); err != nil {
		return nil, err
	}
	if s.own != s.global {
		return ops, nil
	}
	return slices.DeleteFunc(slices.Clone(ops), func(o Operation) bool {
		root, found := o.root()
		return !found || root != globalKey
	}), nil
}

// applySwitches applies the operations of a global hook that enable or disable modules.
// If a patch has one, addon-operator expects all its operations to be of this kind, and
// rejects the others.
func (s *Store) applySwitches(ops []Operation) error {
	isSwitch := func(o Operation) bool {
		root, _ := o.root()
		return strings.HasSuffix(root, switchSuffix)
	}
	if s.own != s.global || !slices.ContainsFunc(ops, isSwitch) {
		return nil
	}
	for _, o := range ops {
		on, key := string(o.Value) == "true", strings.TrimPrefix(o.Path, "/")
		switch {
		case !on && string(o.Value) != "false" && isSwitch(o):
			return fmt.Errorf("%s of %s needs the value true or false", o.Op, o.Path)
		case !on && string(o.Value) != "false":
			return fmt.Errorf("%s of %s is in one patch with a switch, and addon-operator treats it as a switch, too: use two hooks", o.Op, o.Path)
		case !isSwitch(o):
		case o.Op == "add":
			s.switches[key] = on
		case o.Op == "remove":
			delete(s.switches, key)
		}
	}
	return nil
}

// Rendered returns the objects of the module's chart for the current values. The error
// says why addon-operator would not install the chart.
func (s *Store) Rendered(m Module, table *kinds.Table) ([]*unstructured.Unstructured, error) {
	if wrong := Check(s.own.Schemas.Helm, s.own.result); len(wrong) > 0 {
		return nil, fmt.Errorf("addon-operator does not install the chart: %s", violationText(s.own.Key, wrong))
	}
	c, err := m.loadChart()
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, fmt.Errorf("the module %s has no chart", m.Name)
	}
	files, err := chart.Render(c, m.chartValues(merge(s.global.result), merge(s.own.result)), m.release("default"), clusterOf(table))
	if err != nil {
		return nil, err
	}
	return chart.Objects(files)
}
