package module

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The names of the patch files in messages.
const (
	valuesPatchPath = "$VALUES_JSON_PATCH_PATH"
	configPatchPath = "$CONFIG_VALUES_JSON_PATCH_PATH"
)

// Read parses the patches of a hook. apply applies them and validates the resulting values. It
// applies the patch of the ConfigMap first, and does not undo it if the other patch fails.
func (s *Store) Read(values, config []byte) (apply func() error, err error) {
	configPatch, err := ParsePatch(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configPatchPath, err)
	}
	valuesPatch, err := ParsePatch(values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", valuesPatchPath, err)
	}
	before := s.own.result // the patch applies to the values that the hook read
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
	valueOps, err := s.valueOperations(ops)
	if err != nil {
		return err
	}
	next, changed, err := applyPatch(s.own.Key, s.own.config, valueOps, false)
	if err != nil {
		return err
	}
	if changed {
		if violations := s.own.checkConfig(next); len(violations) > 0 {
			return errors.New(violationText(s.own.Key, violations))
		}
		s.own.config = next
		if err := s.own.update(); err != nil {
			return err
		}
	}
	return s.applyEnabledFlags(ops)
}

func (s *Store) applyValues(before map[string]any, ops []Operation) error {
	valueOps, err := s.valueOperations(ops)
	if err != nil {
		return err
	}
	next, changed, err := applyPatch(s.own.Key, before, valueOps, false)
	if err != nil {
		return err
	}
	if changed {
		if violations := checkValues(s.own.Schemas.Values, next); len(violations) > 0 {
			return errors.New(violationText(s.own.Key, violations))
		}
		s.own.patches = compact(s.own.patches, valueOps)
		if err := s.own.update(); err != nil {
			return err
		}
	}
	return s.applyEnabledFlags(ops)
}

// valueOperations returns the operations that change values, without those that set enabled
// flags. Operations that the hook may not use are errors.
func (s *Store) valueOperations(ops []Operation) ([]Operation, error) {
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

// applyEnabledFlags applies the operations of a global hook that enable or disable modules. If
// a patch has such an operation, addon-operator treats all its operations like that.
func (s *Store) applyEnabledFlags(ops []Operation) error {
	setsFlag := func(o Operation) bool {
		root, _ := o.root()
		return strings.HasSuffix(root, enabledSuffix)
	}
	if s.own != s.global || !slices.ContainsFunc(ops, setsFlag) {
		return nil
	}
	for _, o := range ops {
		enabled, key := string(o.Value) == "true", strings.TrimPrefix(o.Path, "/")
		switch {
		case !enabled && string(o.Value) != "false" && setsFlag(o):
			return fmt.Errorf("%s of %s must have the value true or false", o.Op, o.Path)
		case !enabled && string(o.Value) != "false":
			return fmt.Errorf("%s of %s: addon-operator treats all operations of a patch as enabled flags if it has one: use two hooks", o.Op, o.Path)
		case !setsFlag(o):
		case o.Op == "add":
			s.enabledFlags[key] = enabled
		case o.Op == "remove":
			delete(s.enabledFlags, key)
		}
	}
	return nil
}
