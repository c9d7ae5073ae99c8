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

// TestMetadata checks the metadata with the validators of the suite operatorframework. They
// warn about the icon, which only the user has.
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

// TestTargets checks what the target bundle depends on, and that an existing one stays.
func TestTargets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ before, bundle string }{
		{"GENERATED = generate\n\nmanifests:\n", "bundle: $(GENERATED) ##"},
		{"manifests: generate\n", "bundle: manifests ##"},
		{"all:\n\n\n", "bundle: ##"},
	} {
		got := read(t, planned(t, &project.Config{ProjectName: "fleet"}, map[string]string{makefile: tc.before}), makefile)
		if !strings.HasPrefix(got, strings.TrimRight(tc.before, "\n")+"\n\n##@ Bundle\n") || !strings.Contains(got, "\n"+tc.bundle) {
			t.Errorf("%q:\n%s", tc.before, got)
		}
	}
	const own = "bundle: manifests\n\techo\n"
	if got := read(t, planned(t, &project.Config{ProjectName: "fleet"}, map[string]string{makefile: own}), makefile); got != own {
		t.Errorf("own target:\n%s", got)
	}
	if p := planned(t, &project.Config{ProjectName: "fleet"}, nil); p.Exists(makefile) {
		t.Error("a Makefile appears")
	}
}
