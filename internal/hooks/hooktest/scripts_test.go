package hooktest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-dev/operon/internal/hooks/engine"
	"github.com/operon-dev/operon/internal/hooks/module"
	"github.com/operon-dev/operon/internal/testkit/enginetest"
)

// scripts are enabled scripts, valid and invalid.
var scripts = []string{
	"echo true >$MODULE_ENABLED_RESULT", "echo false >$MODULE_ENABLED_RESULT", "printf true >$MODULE_ENABLED_RESULT", "printf ' \\n\\ttrue \\r\\n' >$MODULE_ENABLED_RESULT", "true", "echo true",
	"echo True >$MODULE_ENABLED_RESULT", "echo '\"true\"' >$MODULE_ENABLED_RESULT", "echo 1 >$MODULE_ENABLED_RESULT", "echo >$MODULE_ENABLED_RESULT", "echo true >$MODULE_ENABLED_RESULT; exit 1", "exit 3",
	"kill -9 $$", "rm $MODULE_ENABLED_RESULT", "echo false >$MODULE_ENABLED_RESULT; rm $MODULE_ENABLED_REASON", "echo true >>$MODULE_ENABLED_RESULT; echo false >>$MODULE_ENABLED_RESULT",
	"echo false >$MODULE_ENABLED_RESULT; echo ' there are none \n' >$MODULE_ENABLED_REASON", "echo true >$MODULE_ENABLED_RESULT; echo why >$MODULE_ENABLED_REASON", "echo false >$MODULE_ENABLED_RESULT; printf 'a\\nb\\n' >$MODULE_ENABLED_REASON",
	"cp $VALUES_PATH saw; echo true >$MODULE_ENABLED_RESULT", "cp $CONFIG_VALUES_PATH saw; echo false >$MODULE_ENABLED_RESULT", "ls modules >/dev/null && echo true >$MODULE_ENABLED_RESULT",
	"[ -z \"$BINDING_CONTEXT_PATH$VALUES_JSON_PATCH_PATH$METRICS_PATH\" ] && echo true >$MODULE_ENABLED_RESULT", "echo false >$MODULE_ENABLED_RESULT; [ $# = 0 ]",
}

// TestScripts checks the results of enabled scripts, and the files that they receive.
func TestScripts(t *testing.T) {
	t.Parallel()
	const config = "properties: {replicas: {type: integer, default: 1}}"
	type project struct {
		Files  map[string]string         `json:"files"`
		Config map[string]map[string]any `json:"config"`
	}
	var texts []string
	for _, script := range scripts {
		for _, set := range []map[string]map[string]any{nil, {"web": {"replicas": 2}, "global": {"zone": "b"}}} {
			text, err := json.Marshal(project{Config: set, Files: map[string]string{
				"modules/values.yaml": "global: {zone: a}\nwebEnabled: true\ndnsEnabled: true\nlateEnabled: true\noffEnabled: false\n", "modules/010-web/enabled": "#!/bin/sh\n" + script + "\n",
				"modules/010-web/openapi/config-values.yaml": config, "modules/005-dns/x": "", "modules/020-late/x": "", "modules/001-off/x": "", "global-hooks/x": ""}})
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
	}
	enginetest.Compare(t, "../testdata/addon", "enabled", texts, func(text string) string {
		var p project
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		schemas, err := module.ParseSchemas([]byte(config), nil)
		if err != nil {
			t.Fatal(err)
		}
		set := map[string]any{}
		for key, section := range p.Config {
			set[key] = section
		}
		store, err := module.NewStore(module.Values{Key: "global", Static: map[string]any{"zone": "a"}}, &module.Values{Key: "web", Schemas: schemas}, set,
			map[string]any{"global": map[string]any{"enabledModules": []any{"dns"}}})
		if err != nil {
			t.Fatal(err)
		}
		values, given, err := store.ScriptFiles()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		script := filepath.Join(dir, "modules", "enabled")
		if err := os.Mkdir(filepath.Dir(script), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(script, []byte(p.Files["modules/010-web/enabled"]), 0o755); err != nil {
			t.Fatal(err)
		}
		d, err := engine.Runner{Env: os.Environ(), Temp: t.TempDir(), Dir: dir}.RunEnabled(t.Context(), script, engine.ValuesFiles{Values: values, Config: given})
		output := map[string]any{"on": d.Enabled, "reason": d.Reason, "saw": nil}
		if saw, err := os.ReadFile(filepath.Join(dir, "saw")); err == nil {
			output["saw"] = json.RawMessage(saw)
		}
		return enginetest.Verdict(err != nil, output)
	})
}
