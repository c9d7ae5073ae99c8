package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	enginelog "github.com/deckhouse/deckhouse/pkg/log"
	metricsstorage "github.com/deckhouse/deckhouse/pkg/metrics-storage"
	"github.com/flant/addon-operator/pkg/kube_config_manager/config"
	"github.com/flant/addon-operator/pkg/module_manager"
	"github.com/flant/addon-operator/pkg/utils"
)

// project is a folder with modules and global-hooks, and the runs of a hook.
type project struct {
	Files  map[string]string         `json:"files"`  // contents by path; files that start with #! are executable
	Config map[string]map[string]any `json:"config"` // the values of the ConfigMap, by module or global
	Runs   []run                     `json:"runs"`
}

// run has the patches that a hook writes in one run.
type run struct {
	Values string `json:"values"`
	Config string `json:"config"`
}

// engine is addon-operator's module manager, which runs in a folder without a cluster.
type engine struct {
	*module_manager.ModuleManager
	project
	dir string
}

// open starts an engine in a new folder. The caller must close it.
func open(text string) (*engine, error) {
	e := &engine{}
	if err := json.Unmarshal([]byte(text), &e.project); err != nil {
		return nil, err
	}
	var err error
	if e.dir, err = os.MkdirTemp("", "addon-"); err != nil {
		return nil, err
	}
	for name, content := range e.Files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		name = filepath.Join(e.dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), mode))
	}
	err = errors.Join(err, os.MkdirAll(filepath.Join(e.dir, "tmp"), 0o755), os.Chdir(e.dir))
	if err != nil {
		e.close()
		return nil, err
	}
	storage := metricsstorage.NewMetricStorage(metricsstorage.WithNewRegistry(), metricsstorage.WithLogger(enginelog.NewNop()))
	e.ModuleManager = module_manager.NewModuleManager(context.Background(), &module_manager.ModuleManagerConfig{
		DirectoryConfig: module_manager.DirectoryConfig{
			ModulesDir: filepath.Join(e.dir, "modules"), GlobalHooksDir: filepath.Join(e.dir, "global-hooks"), TempDir: filepath.Join(e.dir, "tmp")},
		Dependencies: module_manager.ModuleManagerDependencies{KubeConfigManager: configMap{}, MetricStorage: storage, HookMetricStorage: storage},
	}, enginelog.NewNop())
	if err := e.Init(enginelog.NewNop()); err != nil {
		e.close()
		return nil, err
	}
	go func() {
		for range e.SchedulerEventCh() { // the channel must not block
		}
	}()
	return e, nil
}

func (e *engine) close() {
	if e.ModuleManager != nil {
		e.Stop()
	}
	_ = os.Chdir("/")
	_ = os.RemoveAll(e.dir)
}

// configure passes the values of the ConfigMap to the engine, and enables each module that has
// values there: addon-operator does not validate the values of other modules.
func (e *engine) configure() error {
	c := config.NewConfig()
	on := true
	for name, values := range e.Config {
		if name == utils.GlobalValuesKey {
			c.Global = &config.GlobalKubeConfig{Values: values}
			continue
		}
		module := utils.NewModuleConfig(name, values)
		module.IsEnabled = &on
		c.Modules[name] = &config.ModuleKubeConfig{ModuleConfig: *module}
	}
	return e.ApplyNewKubeConfigValues(c, true)
}

// configMap is a ConfigMap that accepts all values, and neither enables nor disables modules.
type configMap struct{}

func (configMap) SaveConfigValues(string, utils.Values) error     { return nil }
func (configMap) IsModuleEnabled(string) *bool                    { return nil }
func (configMap) UpdateModuleConfig(string) error                 { return nil }
func (configMap) SafeReadConfig(handler func(*config.KubeConfig)) { handler(config.NewConfig()) }
func (configMap) KubeConfigEventCh() chan config.KubeConfigEvent  { return nil }
