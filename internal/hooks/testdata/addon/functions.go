package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"example.com/oracle"
	enginelog "github.com/deckhouse/deckhouse/pkg/log"
	"github.com/flant/addon-operator/pkg/hook/types"
	"github.com/flant/addon-operator/pkg/module_manager/models/hooks"
	"github.com/flant/addon-operator/pkg/module_manager/models/hooks/kind"
	"github.com/flant/addon-operator/pkg/module_manager/models/modules"
	"github.com/flant/addon-operator/pkg/module_manager/scheduler/extenders/dynamically_enabled"
	"github.com/flant/addon-operator/pkg/utils"
	bindingcontext "github.com/flant/shell-operator/pkg/hook/binding_context"
)

// validateConfig returns a function that validates the output of a hook with --config.
func validateConfig(owner string) oracle.Func {
	dir, err := os.MkdirTemp("", "addon-")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "hook.sh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec cat \"${0%/*}/config\"\n"), 0o755); err != nil {
		panic(err)
	}
	return func(text string) (any, error) {
		if err := os.WriteFile(filepath.Join(dir, "config"), []byte(text), 0o644); err != nil {
			return nil, err
		}
		hook := kind.NewShellHook("hook.sh", path, owner, false, false, enginelog.NewNop())
		if owner == "global" {
			return nil, hooks.NewGlobalHook(hook).InitializeHookConfig()
		}
		return nil, hooks.NewModuleHook(hook).InitializeHookConfig()
	}
}

// start starts an engine and registers the hooks of its modules. The error is the reason why the
// engine does not start, or cannot run a module; charts are ignored.
func start(text string) (any, error) {
	e, err := open(text)
	if err != nil {
		return nil, err
	}
	defer e.close()
	for _, name := range e.GetModuleNames() {
		m, key := e.GetModule(name), utils.ModuleNameToValuesKey(name)
		if err := e.RegisterModuleHooks(m, map[string]string{}); err != nil {
			return nil, err
		}
		if err := m.GetSchemaStorage().ValidateModuleHelmValues(key, utils.Values{key: m.GetValues(false)}); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// enabledResult is the result of the enabled script of the module web.
type enabledResult struct {
	Enabled *bool           `json:"on"` // nil if the script did not run
	Reason  string          `json:"reason"`
	Saw     json.RawMessage `json:"saw"` // the content of the file saw, which the script may write
}

// runEnabled enables modules as the scheduler does.
func runEnabled(text string) (any, error) {
	e, err := open(text)
	if err != nil {
		return nil, err
	}
	defer e.close()
	if err := e.configure(); err != nil {
		return nil, err
	}
	if _, err := e.RefreshEnabledState(map[string]string{}); err != nil {
		return nil, err
	}
	web := e.GetModule("web")
	result := enabledResult{Enabled: web.GetEnabledScriptResult()}
	if result.Enabled != nil && *result.Enabled != e.IsModuleEnabled("web") {
		return nil, errors.New("the engine ignores the result of the script")
	}
	if reason := web.GetEnabledScriptReason(); reason != nil {
		result.Reason = *reason
	}
	if saw, err := os.ReadFile(filepath.Join(e.dir, "saw")); err == nil {
		result.Saw = saw
	}
	return result, nil
}

// state is the state after a run of a hook.
type state struct {
	Refused  bool             `json:"refused"`
	Values   utils.Values     `json:"values"`
	Config   utils.Values     `json:"config"`
	Switches map[string]*bool `json:"switches"` // whether global hooks enable modules
}

// runPatches runs the only hook of the project: the hook of the module web, or a global hook. The
// hook writes the contents of the files values and config.
func runPatches(text string) (any, error) {
	e, err := open(text)
	if err != nil {
		return nil, err
	}
	defer e.close()
	if err := e.configure(); err != nil {
		return nil, err
	}
	web := e.GetModule("web")
	if err := e.RegisterModuleHooks(web, map[string]string{}); err != nil {
		return nil, err
	}
	var states []state
	for _, r := range e.Runs {
		for name, content := range map[string]string{"values": r.Values, "config": r.Config} {
			if err := os.WriteFile(filepath.Join(e.dir, name), []byte(content), 0o644); err != nil {
				return nil, err
			}
		}
		failed := e.runHook(web)
		if failed != nil {
			fmt.Fprintln(os.Stderr, failed)
		}
		states = append(states, e.after(failed != nil, web))
	}
	return states, nil
}

func (e *engine) runHook(web *modules.BasicModule) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	contexts := []bindingcontext.BindingContext{{Binding: "any"}}
	if own := web.GetHooks(); len(own) > 0 {
		_, _, err = e.RunModuleHook(context.Background(), "web", own[0].GetName(), types.BeforeHelm, contexts, map[string]string{})
	} else {
		_, _, err = e.RunGlobalHook(context.Background(), e.GetGlobalHooksNames()[0], types.BeforeAll, contexts, map[string]string{})
	}
	return err
}

func (e *engine) after(refused bool, web *modules.BasicModule) state {
	s := state{Refused: refused, Values: utils.Values{}, Config: utils.Values{}, Switches: map[string]*bool{}}
	s.Values["global"], s.Config["global"] = e.GetGlobal().GetValues(false), e.GetGlobal().GetConfigValues(false)
	if len(web.GetHooks()) > 0 {
		s.Values["web"], s.Config["web"] = web.GetValues(false), web.GetConfigValues(false)
		return s
	}
	for _, name := range slices.Sorted(slices.Values(e.GetModuleNames())) {
		on, err := e.FilterModuleByExtender(dynamically_enabled.Name, name, map[string]string{})
		if err != nil {
			panic(err)
		}
		s.Switches[name] = on
	}
	return s
}
