package helmchart

import (
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/spf13/afero"
)

const (
	valuesFile  = "dist/chart/values.yaml"
	managerFile = "dist/chart/templates/manager/controller-manager.yaml"
)

// TestMerge edits a template and the values, and then adds a kind and changes the manager: the chart has all of it.
// Without the kind, its file goes.
func TestMerge(t *testing.T) {
	fsys := disk(t, "fleet")
	crds := "config/crd/kustomization.yaml"
	change(t, fsys, crds, "- bases/ship.example.org_types.yaml\n", "")
	before := write(t, fsys)
	const crd = "templates/crd/types.ship.example.org.yaml"
	if before[crd] != nil {
		t.Fatal("the kind exists")
	}
	change(t, fsys, valuesFile, "replicas: 1", "replicas: 3")
	change(t, fsys, valuesFile, "# The Deployment of the manager.", "# Mine.")
	change(t, fsys, managerFile, "    metadata:\n      annotations:\n", "    metadata:\n      annotations:\n        mine: \"true\"\n")
	change(t, fsys, "dist/chart/Chart.yaml", "version: 0.1.0", "version: 1.2.3")
	change(t, fsys, crds, "resources:\n", "resources:\n- bases/ship.example.org_types.yaml\n")
	change(t, fsys, "config/manager/manager.yaml", "initialDelaySeconds: 15", "initialDelaySeconds: 20")
	after := write(t, fsys)
	for name, want := range map[string][]string{
		"values.yaml": {"replicas: 3", "# Mine."},
		"templates/manager/controller-manager.yaml": {`mine: "true"`, "initialDelaySeconds: 20"},
		"Chart.yaml": {"version: 1.2.3"},
		crd:          {"types.ship.example.org"},
	} {
		for _, part := range want {
			if !strings.Contains(string(after[name]), part) {
				t.Errorf("%s lacks %q:\n%s", name, part, after[name])
			}
		}
	}
	if again := write(t, fsys); len(again) != len(after) {
		t.Errorf("%d files, then %d", len(after), len(again))
	}
	change(t, fsys, crds, "- bases/ship.example.org_types.yaml\n", "")
	if without := write(t, fsys); without[crd] != nil {
		t.Error("the file of the removed kind is left")
	}
}

// TestRemovedKind keeps the file of a removed kind that the user edited.
func TestRemovedKind(t *testing.T) {
	fsys := disk(t, "fleet")
	write(t, fsys)
	const crd = "dist/chart/templates/crd/types.ship.example.org.yaml"
	change(t, fsys, crd, "spec:\n", "# mine\nspec:\n")
	change(t, fsys, "config/crd/kustomization.yaml", "- bases/ship.example.org_types.yaml\n", "")
	p, err := newPlan(t, fsys, scaffold.Options{})
	if err != nil || !p.Exists(crd) || len(p.Warnings()) != 1 || p.Warnings()[0].File != crd {
		t.Errorf("%v, the file exists: %t, %v", err, p.Exists(crd), p.Warnings())
	}
}

// TestBrokenChart edits the chart, or its sources, so that nothing can be generated.
func TestBrokenChart(t *testing.T) {
	for _, tc := range []struct{ file, before, after, want string }{
		{managerFile, "spec:\n", "spec: {{ .Values.manager.\n", managerFile + ":18: "},
		{managerFile, "kind: Deployment", "kind: {{ fail \"no\" }}", managerFile + ":3:9: no"},
		{managerFile, "kind: Deployment", "kind: [", managerFile + ": the output is not valid YAML"},
		{"dist/chart/templates/rbac/controller-manager.yaml", "metadata:", "other:", "dist/chart: ServiceAccount has no metadata.name"},
		{valuesFile, "manager:", "manager: [", valuesFile + ":"},
		{"dist/chart/Chart.yaml", "name: s3-operator", "nam: s3-operator", "dist/chart/Chart.yaml: name is required"},
		{"config/manager/manager.yaml", "kind: Deployment", "kind: StatefulSet", "config/default has no Deployment"},
		{"config/default/kustomization.yaml", "- ../rbac", "- ../rback", "config/default/kustomization.yaml: resources has ../rback, which does not exist"},
		{"config/default/kustomization.yaml", "resources:", "resources", "config/default/kustomization.yaml:"},
	} {
		fsys := disk(t, "s3-operator")
		write(t, fsys)
		change(t, fsys, tc.file, tc.before, tc.after)
		_, err := newPlan(t, fsys, scaffold.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), tc.want) || fault.HintOf(err) == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s with %q: %v (hint %q), want %s", tc.file, tc.after, err, fault.HintOf(err), tc.want)
		}
	}
}

// TestEmptyChart checks the error for a chart whose templates render nothing after an edit.
func TestEmptyChart(t *testing.T) {
	fsys := disk(t, "s3-operator")
	for name := range write(t, fsys) {
		if strings.HasSuffix(name, ".yaml") && strings.HasPrefix(name, "templates/") {
			file := path.Join("dist/chart", name)
			content, err := afero.ReadFile(fsys, file)
			if err != nil {
				t.Fatal(err)
			}
			if err := afero.WriteFile(fsys, file, []byte("{{ if .Values.none }}\n"+string(content)+"{{ end }}\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err := newPlan(t, fsys, scaffold.Options{})
	if want := valuesFile + ": the chart renders no objects with these values"; err == nil || err.Error() != want || fault.HintOf(err) == "" {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestRecord checks the configuration in PROJECT and the flags.
func TestRecord(t *testing.T) {
	for _, tc := range []struct {
		recorded any
		options  map[string]any
		want     string // the folder, or the start of the error
	}{
		{nil, nil, "dist/chart"},
		{nil, map[string]any{outputFlag: "charts/"}, "charts/chart"},
		{nil, map[string]any{outputFlag: "."}, "chart"},
		{nil, map[string]any{outputFlag: "../x"}, `"../x" is not a folder`},
		{nil, map[string]any{outputFlag: "/x"}, `"/x" is not a folder`},
		{nil, map[string]any{outputFlag: ".git/x"}, `".git/x" is not a folder`},
		{nil, map[string]any{manifestsFlag: "./dist/install.yaml"}, "dist/chart"},
		{nil, map[string]any{manifestsFlag: "all.yaml"}, "all.yaml is not the file"},
		{map[string]any{"output": "../x"}, nil, `PROJECT: plugins: helm.kubebuilder.io/v2-alpha: "../x" is not a folder`},
		{map[string]any{"output": []any{"x"}}, nil, "PROJECT: plugins: helm.kubebuilder.io/v2-alpha: output has an unexpected array"},
		{map[string]any{"manifests": "x.yaml"}, nil, "PROJECT: plugins: helm.kubebuilder.io/v2-alpha: x.yaml is not the file"},
	} {
		fsys := disk(t, "s3-operator")
		p, err := scaffold.New(fsys, scaffold.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c, before := config(t, fsys), &project.Config{}
		if tc.recorded != nil {
			c.EncodePluginConfig(Key, tc.recorded)
			before = c.Clone()
		}
		for _, e := range []plugin.Event{{Type: plugin.Edit, Before: before, Options: tc.options}, {Type: plugin.Generate}} {
			e.Project = c
			if err == nil {
				err = Plugin{}.Plan(t.Context(), e, p)
			}
		}
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), tc.want), err == nil && !p.Exists(tc.want+"/Chart.yaml"):
			t.Errorf("%v with %v: %v, want %s", tc.recorded, tc.options, err, tc.want)
		}
	}
}

// TestMovedChart moves the chart with the edits of the user.
func TestMovedChart(t *testing.T) {
	fsys := disk(t, "fleet")
	write(t, fsys)
	change(t, fsys, valuesFile, "replicas: 1", "replicas: 3")
	if err := afero.WriteFile(fsys, "dist/chart/templates/mine.yaml", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := scaffold.New(fsys, scaffold.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := config(t, fsys)
	for _, e := range []plugin.Event{{Type: plugin.Edit, Before: c.Clone(), Options: map[string]any{outputFlag: "charts"}}, {Type: plugin.Generate}} {
		e.Project = c
		if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
			t.Fatal(err)
		}
	}
	values, err := p.Read("charts/chart/values.yaml")
	if err != nil || !strings.Contains(string(values), "replicas: 3") || p.Exists(valuesFile) || !p.Exists("charts/chart/templates/mine.yaml") || len(p.Conflicts()) > 0 {
		t.Errorf("%v, conflicts in %v; the values are\n%s", err, p.Conflicts(), values)
	}
}

// TestDeletedChart does not create files again that the user deleted.
func TestDeletedChart(t *testing.T) {
	fsys := disk(t, "s3-operator")
	write(t, fsys)
	if err := fsys.Remove("dist/chart/templates/NOTES.txt"); err != nil {
		t.Fatal(err)
	}
	if files := write(t, fsys); files["templates/NOTES.txt"] != nil || files["Chart.yaml"] == nil {
		t.Error("NOTES.txt exists again")
	}
	if err := fsys.RemoveAll("dist"); err != nil {
		t.Fatal(err)
	}
	if files := write(t, fsys); len(files) > 0 {
		t.Errorf("%d files exist again", len(files))
	}
	p, err := newPlan(t, fsys, scaffold.Options{Restore: []string{"dist/chart"}})
	if err != nil || !p.Exists("dist/chart/Chart.yaml") {
		t.Errorf("restored: %v", err)
	}
}

// TestOwnNames makes the chart of a kustomization without a namespace and without a prefix.
func TestOwnNames(t *testing.T) {
	fsys := disk(t, "s3-operator")
	change(t, fsys, "config/default/kustomization.yaml", "namespace: s3-operator-system\n", "")
	objects, err := rendered(t, write(t, fsys), map[string]any{"fullnameOverride": "x"}, "r", "n")
	if err != nil || objects["Deployment x-controller-manager"] == nil {
		t.Errorf("without a namespace: %v, %v", err, objects)
	}
	fsys = disk(t, "s3-operator")
	change(t, fsys, "config/default/kustomization.yaml", "namePrefix: s3-operator-\n", "")
	objects, err = rendered(t, write(t, fsys), map[string]any{}, "r", "n")
	if err != nil || objects["Deployment controller-manager"] == nil || objects["ServiceAccount controller-manager"] == nil {
		t.Errorf("without a prefix: %v, %v", err, objects)
	}
}

// TestNoVariables has no list of variables in a chart whose manager has none.
func TestNoVariables(t *testing.T) {
	fsys := disk(t, "s3-operator")
	content, err := afero.ReadFile(fsys, "config/manager/manager.yaml")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(content), "        env:\n")
	_, after, ok := strings.Cut(rest, "        ports:\n")
	if err := afero.WriteFile(fsys, "config/manager/manager.yaml", []byte(before+"        ports:\n"+after), 0o644); err != nil || !ok {
		t.Fatal(err)
	}
	files := write(t, fsys)
	for values, want := range map[string]bool{"{}": false, "manager: {env: [{name: A, value: b}]}": true} {
		objects, err := rendered(t, files, parse(t, values), "r", "n")
		if err != nil {
			t.Fatal(err)
		}
		container, _ := find(objects["Deployment s3-operator-controller-manager"].Object, manager()...).(map[string]any)
		if _, has := container["env"]; has != want || container["name"] != "manager" {
			t.Errorf("%s: %v", values, container)
		}
	}
}

// TestWorkflow reads the workflow, which installs cert-manager if the chart needs it, and follows the chart.
func TestWorkflow(t *testing.T) {
	const file = ".github/workflows/test-chart.yml"
	for name, certManager := range map[string]bool{"fleet": true, "databaseuser": false} {
		fsys := disk(t, name)
		write(t, fsys)
		content, err := afero.ReadFile(fsys, file)
		if err != nil {
			t.Fatal(err)
		}
		job := find(parse(t, string(content)), "jobs", "test-chart")
		if got := find(job, "env", "CHART"); got != "dist/chart" || find(job, "env", "NAMESPACE") != name+"-system" {
			t.Errorf("%s: the job is %v", name, job)
		}
		steps, _ := find(job, "steps").([]any)
		var script strings.Builder
		for i := range steps {
			text, _ := find(steps, i, "run").(string)
			script.WriteString(text + "\n")
		}
		if got := strings.Contains(script.String(), "cert-manager.yaml"); got != certManager {
			t.Errorf("%s: cert-manager is installed: %t", name, got)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-n")
		cmd.Stdin = strings.NewReader(script.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		for set := range strings.FieldsSeq(script.String()) { // the values exist
			if value, _, isSet := strings.Cut(set, "="); isSet && strings.HasPrefix(value, "manager.") {
				values, err := afero.ReadFile(fsys, valuesFile)
				if err != nil || find(parse(t, string(values)), anySlice(strings.Split(value, "."))...) == nil {
					t.Errorf("%s sets %s: %v", name, value, err)
				}
			}
		}
	}
	fsys := disk(t, "s3-operator")
	if err := afero.WriteFile(fsys, file, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	write(t, fsys)
	if content, err := afero.ReadFile(fsys, file); err != nil || string(content) != "mine" {
		t.Errorf("%s, %v", content, err)
	}
}

func anySlice(words []string) (all []any) {
	for _, w := range words {
		all = append(all, w)
	}
	return all
}

// TestForeignChart leaves the chart of another tool alone.
func TestForeignChart(t *testing.T) {
	fsys := disk(t, "fleet")
	if err := afero.WriteFile(fsys, "dist/chart/Chart.yaml", []byte("name: fleet\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := newPlan(t, fsys, scaffold.Options{})
	if err != nil || len(p.Changes()) > 0 {
		t.Errorf("generate: %v, %v", err, p.Changes())
	}
	err = Plugin{}.Plan(t.Context(), plugin.Event{Type: plugin.Edit, Project: config(t, fsys), Before: &project.Config{}}, p)
	if fault.Code(err) != fault.CodeUsage || !strings.Contains(err.Error(), "another tool") {
		t.Errorf("edit: %v", err)
	}
	c := config(t, fsys)
	err = Plugin{}.Plan(t.Context(), plugin.Event{Type: plugin.Edit, Project: c, Before: c}, p)
	if warnings := p.Warnings(); err != nil || len(warnings) != 1 || warnings[0].Rule != "foreign-chart" {
		t.Errorf("a repeated edit: %v, %v", err, warnings)
	}
}
