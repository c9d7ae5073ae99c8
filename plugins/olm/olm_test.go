package olm

import (
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/internal/makefile"
	"github.com/spf13/afero"
	"sigs.k8s.io/yaml"
)

// planned returns the plan of an init with this configuration, in a project with these files.
func planned(t *testing.T, c *project.Config, files map[string]string) *scaffold.Plan {
	t.Helper()
	disk := afero.NewMemMapFs()
	for name, content := range files {
		if err := afero.WriteFile(disk, name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := scaffold.New(disk, scaffold.Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := (Plugin{}).Plan(t.Context(), plugin.Event{Type: plugin.Init, Project: c}, p); err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t *testing.T, p *scaffold.Plan, name string) string {
	t.Helper()
	content, err := p.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestMetadata checks the metadata with the validators of the suite operatorframework. The
// icon is in a file of its own.
func TestMetadata(t *testing.T) {
	t.Parallel()
	for _, c := range []project.Config{
		{ProjectName: "s3-operator", Domain: "example.org"},
		{ProjectName: "fleet", Domain: "example.org", Namespaced: true},
		{ProjectName: "null"},
		{ProjectName: "123", Domain: "4.5"},
	} {
		text := read(t, planned(t, &c, nil), basesDir+"/"+c.ProjectName+baseSuffix)
		csv := &v1alpha1.ClusterServiceVersion{}
		if err := yaml.UnmarshalStrict([]byte(text), csv); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if len(csv.Spec.Keywords) != 1 || csv.Spec.Keywords[0] != c.ProjectName || csv.Name != c.ProjectName+".v0.0.0" {
			t.Errorf("keywords %v, name %s", csv.Spec.Keywords, csv.Name)
		}
		modes := map[v1alpha1.InstallModeType]bool{}
		for _, mode := range csv.Spec.InstallModes {
			modes[mode.Type] = mode.Supported
		}
		if len(modes) != 4 || modes["OwnNamespace"] != c.Namespaced || modes["SingleNamespace"] != c.Namespaced || modes["AllNamespaces"] == c.Namespaced {
			t.Errorf("%s: install modes %v", c.ProjectName, modes)
		}
		csv.Spec.Version.Patch = 1 // as operon bundle generate --version 0.0.1
		bundle := &manifests.Bundle{Name: csv.Name, CSV: csv}
		results := validation.OperatorHubV2Validator.Validate(bundle)
		results = append(results, validation.StandardCapabilitiesValidator.Validate(bundle)...)
		results = append(results, validation.StandardCategoriesValidator.Validate(bundle)...)
		for _, result := range results {
			for _, e := range append(result.Errors, result.Warnings...) {
				if !strings.HasSuffix(e.Error(), "csv.Spec.Icon not specified") {
					t.Errorf("%s: %v", c.ProjectName, e)
				}
			}
		}
	}
}

// TestHeader keeps the first comment that an older operon wrote.
func TestHeader(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{"# Older.\napiVersion: v1\nkind: A\n": "# Older.\napiVersion: v1\nkind: B\n", "kind: A\n": "# Newer.\napiVersion: v1\nkind: B\n"} {
		if got := string(withHeader([]byte(base), []byte("# Newer.\napiVersion: v1\nkind: B\n"))); got != want {
			t.Errorf("%q: got %q", base, got)
		}
	}
}

// TestIcon adds an icon only to new metadata.
func TestIcon(t *testing.T) {
	t.Parallel()
	c := &project.Config{ProjectName: "s3-operator"}
	if icon := read(t, planned(t, c, nil), basesDir+"/icon.svg"); !strings.Contains(icon, ">S</text>") {
		t.Errorf("got %s", icon)
	}
	for _, file := range []string{"icon.png", "s3-operator" + baseSuffix, "other" + baseSuffix} {
		if planned(t, c, map[string]string{basesDir + "/" + file: "own\n"}).Exists(basesDir + "/icon.svg") {
			t.Errorf("an icon appears beside %s", file)
		}
	}
}

// TestTargets checks what the target bundle depends on, and that an existing one stays.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ before, bundle string }{
		{"GENERATED = generate\n\nmanifests:\n", "bundle: $(GENERATED) ##"},
		{"manifests: generate\n", "bundle: manifests ##"},
		{"all:\n\n\n", "bundle: ##"},
	} {
		got := read(t, planned(t, &project.Config{ProjectName: "fleet"}, map[string]string{makefile.Name: tc.before}), makefile.Name)
		if !strings.HasPrefix(got, strings.TrimRight(tc.before, "\n")+"\n\n##@ Bundle\n") || !strings.Contains(got, "\n"+tc.bundle) {
			t.Errorf("%q:\n%s", tc.before, got)
		}
	}
	const own = "bundle: manifests\n\techo\n"
	if got := read(t, planned(t, &project.Config{ProjectName: "fleet"}, map[string]string{makefile.Name: own}), makefile.Name); got != own {
		t.Errorf("own target:\n%s", got)
	}
	if p := planned(t, &project.Config{ProjectName: "fleet"}, nil); p.Exists(makefile.Name) {
		t.Error("a Makefile appears")
	}
}

// TestDocuments checks that the documents that operon wrote mention bundles, once, and that the
// user's own stay.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ before, after string }{
		{"# Fleet\n\n## Deploy\n\ntext\n\n## Uninstall\n\ntext\n", "# Fleet\n\n## Deploy\n\ntext\n\n" + bundleSection + "## Uninstall\n\ntext\n"},
		{"# Fleet\n\n\n", "# Fleet\n\n" + strings.TrimSuffix(bundleSection, "\n")},
	} {
		got := addSection([]byte(tc.before))
		if string(got) != tc.after {
			t.Errorf("%s", got)
		}
		if again := addSection(got); string(again) != string(got) {
			t.Errorf("a repeat:\n%s", again)
		}
	}
	const table, text = "| a |\n| - |\n| b |\n", "\n## Rules\n\n| other |\n"
	got := addRow([]byte("# Fleet\n" + table + text))
	if string(got) != "# Fleet\n"+table+bundleRow+text {
		t.Errorf("%s", got)
	}
	if again := addRow(got); string(again) != string(got) {
		t.Errorf("a repeat:\n%s", again)
	}
	const own = "# Own\n"
	p := planned(t, &project.Config{ProjectName: "fleet"}, map[string]string{readme: own, agents: own})
	if read(t, p, readme) != own || read(t, p, agents) != own {
		t.Error("the user's documents change")
	}
}

// TestScope checks that the install modes of another tool follow the namespaces of the manager,
// and that unusual ones are reported.
func TestScope(t *testing.T) {
	t.Parallel()
	const base = "spec:\n  installModes:\n  - {supported: OWN, type: OwnNamespace}\n  - supported: OWN # one\n    type: SingleNamespace\n  - {supported: false, type: MultiNamespace}\n  - {supported: ALL, type: AllNamespaces}\n"
	with := func(own, all string) string {
		return strings.NewReplacer("OWN", own, "ALL", all).Replace(base)
	}
	for _, tc := range []struct {
		before     string
		namespaced bool
		after      string
		warns      bool
	}{
		{with("false", "true"), true, with("true", "false"), false},
		{with("true", "false"), false, with("false", "true"), false},
		{with("true", "false"), true, with("true", "false"), false},
		{with("true", "true"), true, with("true", "true"), true},
		{"spec: {}\n", true, "spec: {}\n", false},
	} {
		const file = basesDir + "/sdk" + baseSuffix
		disk := afero.NewMemMapFs()
		if err := afero.WriteFile(disk, file, []byte(tc.before), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := scaffold.New(disk, scaffold.Options{Command: "test"})
		if err != nil {
			t.Fatal(err)
		}
		plugins := map[string]any{Key: struct{}{}}
		e := plugin.Event{Type: plugin.Edit, Before: &project.Config{Plugins: plugins, Namespaced: !tc.namespaced}, Project: &project.Config{Plugins: plugins, Namespaced: tc.namespaced}}
		if err := (Plugin{}).Plan(t.Context(), e, p); err != nil {
			t.Fatal(err)
		}
		if got := read(t, p, file); got != tc.after || (len(p.Warnings()) > 0) != tc.warns {
			t.Errorf("namespaced %v, warnings %v:\n%s", tc.namespaced, p.Warnings(), got)
		}
	}
}
