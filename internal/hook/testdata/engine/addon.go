package main

import (
	"github.com/flant/shell-operator/pkg/hook/config"
	"gopkg.in/yaml.v3"
)

// steps are what hooks of addon-operator can be bound to beside.
type steps []string

var (
	globalSteps = steps{"beforeAll", "afterAll"}
	moduleSteps = steps{"beforeHelm", "afterHelm", "beforeDeleteHelm", "afterDeleteHelm"}
)

// judgeConfig does what addon-operator v1.24.6 does with a hook's configuration
// (GetConfigForModule in pkg/module_manager/models/hooks/kind): the schema of
// shell-operator with more properties, its checks, and a second reading.
func (s steps) judgeConfig(text string) (any, error) {
	vu := config.NewDefaultVersionedUntyped()
	if err := vu.Load([]byte(text)); err != nil {
		return nil, err
	}
	name := s[0] + " " + vu.Version
	if _, there := config.Schemas[name]; !there {
		schema := config.Schemas[vu.Version]
		for _, step := range s {
			schema += "\n  " + step + ":\n    type: integer\n"
		}
		config.Schemas[name] = schema
	}
	if err := config.ValidateConfig(vu.Obj, config.GetSchema(name), ""); err != nil {
		return nil, err
	}
	c := &config.HookConfig{Version: vu.Version}
	if err := c.ConvertAndCheck([]byte(text)); err != nil {
		return nil, err
	}
	return nil, yaml.Unmarshal([]byte(text), &struct {
		BeforeAll        *uint `yaml:"beforeAll"`
		AfterAll         *uint `yaml:"afterAll"`
		BeforeHelm       *uint `yaml:"beforeHelm"`
		AfterHelm        *uint `yaml:"afterHelm"`
		BeforeDeleteHelm *uint `yaml:"beforeDeleteHelm"`
		AfterDeleteHelm  *uint `yaml:"afterDeleteHelm"`
	}{})
}
