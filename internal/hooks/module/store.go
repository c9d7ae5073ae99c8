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

// globalKey is what global values stand below.
const globalKey = "global"

// Store has values while hooks run, as addon-operator has them: the hooks are given
// them and patch them. They are those of one module and the global ones, or the
// global ones alone, for global hooks.
type Store struct {
	global, own *layers // own is global for global hooks
	switches    map[string]bool
}

// layers are what values come about from.
type layers struct {
	Values
	config  map[string]any // of the ConfigMap; nil when it says nothing
	given   map[string]any // what other hooks patched
	patches []Operation    // of this one
	result  map[string]any
}

// NewStore makes one of the values of a module; own is nil for global hooks. What
// the ConfigMap has, and what hooks patched before, are by key, the module's or
// global. The error is one of them that does not fit its schema, or that nobody
// would read.
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
			return nil, fmt.Errorf("configValues: %s", misfits(l.Key, wrong))
		}
		if err := l.commit(); err != nil {
			return nil, err
		}
	}
	if wrong := Check(s.own.Schemas.Values, s.own.result); len(wrong) > 0 {
		return nil, fmt.Errorf("values: %s", misfits(s.own.Key, wrong))
	}
	return s, nil
}

// keys are those of the values.
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

// commit works out the values, which stay as they are when the patches do not apply.
func (l *layers) commit() error {
	result, _, err := patched(l.Key, merge(l.Effective(l.config), l.given), l.patches, true)
	if err == nil {
		l.result = result
	}
	return err
}

// misfits says what does not fit a schema.
func misfits(key string, all []Violation) string {
	var said []string
	for _, m := range all {
		said = append(said, strings.Join(append([]string{key}, m.Path...), ".")+" "+m.Message)
	}
	return strings.Join(said, "; ")
}

// Values are what hooks see, by key; and the switches that global hooks set.
func (s *Store) Values() map[string]any {
	all := s.sections(func(l *layers) map[string]any { return l.result })
	for key, on := range s.switches {
		all[key] = on
	}
	return all
}

// Config is what the ConfigMap has, by key; null where it says nothing.
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

// Files are what the next run of a hook is given, in JSON.
func (s *Store) Files() (values, config []byte, err error) {
	if values, err = json.Marshal(s.sections(func(l *layers) map[string]any { return l.result })); err != nil {
		return nil, nil, err
	}
	config, err = json.Marshal(s.Config())
	return values, config, err
}

// ScriptFiles are what the script enabled is given, in JSON: the values, and which
// modules that come before are enabled, unless the values say it.
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

// Read reads the patches that a hook wrote. take applies them, and judges the
// values that come of it; those of the ConfigMap come first, and stay when the
// others are refused.
func (s *Store) Read(values, config []byte) (take func() error, err error) {
	configPatch, err := ParsePatch(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configPatchPath, err)
	}
	valuesPatch, err := ParsePatch(values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", valuesPatchPath, err)
	}
	before := s.own.result // for a hook patches what it was given
	return func() error {
		if err := s.takeConfig(configPatch); err != nil {
			return fmt.Errorf("%s: %w", configPatchPath, err)
		}
		if err := s.takeValues(before, valuesPatch); err != nil {
			return fmt.Errorf("%s: %w", valuesPatchPath, err)
		}
		return nil
	}, nil
}

func (s *Store) takeConfig(ops []Operation) error {
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
			return fmt.Errorf("%s", misfits(s.own.Key, wrong))
		}
		s.own.config = next
		if err := s.own.commit(); err != nil {
			return err
		}
	}
	return s.turn(ops)
}

func (s *Store) takeValues(before map[string]any, ops []Operation) error {
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
			return fmt.Errorf("%s", misfits(s.own.Key, wrong))
		}
		s.own.patches = compacted(s.own.patches, own)
		if err := s.own.commit(); err != nil {
			return err
		}
	}
	return s.turn(ops)
}

// split refuses what is not the hook's to change, and leaves out the switches.
func (s *Store) split(ops []Operation) ([]Operation, error) {
	if err := permit(ops, s.own.Key); err != nil {
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

// turn sets the switches that a global hook sets. Where there is one in a patch,
// addon-operator takes all of its operations for switches, and refuses the others.
func (s *Store) turn(ops []Operation) error {
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

// Rendered are the objects of the module's chart with the values that there are.
// The error says why addon-operator would not install it.
func (s *Store) Rendered(m Module, table *kinds.Table) ([]*unstructured.Unstructured, error) {
	if wrong := Check(s.own.Schemas.Helm, s.own.result); len(wrong) > 0 {
		return nil, fmt.Errorf("addon-operator does not install the chart: %s", misfits(s.own.Key, wrong))
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
