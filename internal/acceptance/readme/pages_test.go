package readme

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/repository"
)

// TestHookRules compares the tables of docs/hook-rules.md with the rules that
// operon lists in a SARIF report.
func TestHookRules(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeHook(t, dir, "start.sh", "configVersion: v1\nonStartup: 1\n")
	var report struct {
		Runs []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
		}
	}
	decode(t, operontest.Run(t, dir, "hooks", "validate", "--output", "sarif"), &report)
	var want []string
	for _, rule := range report.Runs[0].Tool.Driver.Rules {
		want = append(want, rule.ID)
	}
	var documented []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(page(t, "docs/hook-rules.md"), -1) {
		documented = append(documented, row[1])
	}
	slices.Sort(want)
	slices.Sort(documented)
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("docs/hook-rules.md does not list each rule once (-rules +documented):\n%s", diff)
	}
}

// TestBindingContexts compares the examples in docs/binding-contexts.md with what
// operon prints for the hooks in that page.
func TestBindingContexts(t *testing.T) {
	t.Parallel()
	const berth = "{apiVersion: v1, kind: ConfigMap, metadata: {name: north, namespace: port, labels: {app: berth}}, data: {free: \"2\"}}\n"
	dir, text := t.TempDir(), page(t, "docs/binding-contexts.md")
	configs := blocks(text, "yaml")
	writeHook(t, dir, "pilot.sh", configs[0])
	writeHook(t, dir, "port.sh", configs[1])
	for name, content := range map[string]string{
		"cluster.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: port}}\n---\n" + berth,
		"berth.yaml":   berth,
		"ship.yaml":    "{apiVersion: v1, kind: ConfigMap, metadata: {name: heron, namespace: port, labels: {app: ship}}, data: {name: Heron}}\n",
		"v1alpha1.yaml": "{apiVersion: port.example.org/v1alpha1, kind: Berth, metadata: {name: north, namespace: port}, " +
			"spec: {places: 2}}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for heading, args := range map[string]string{
		"onStartup":                   "pilot.sh --event startup",
		"Schedule":                    "pilot.sh --event schedule --given cluster.yaml",
		"Kubernetes: Synchronization": "pilot.sh --event sync --binding berths --given cluster.yaml",
		"Kubernetes: Event":           "pilot.sh --event Added --binding ships --object ship.yaml --given cluster.yaml",
		"Group":                       "port.sh --event Added --binding ships --object ship.yaml --given cluster.yaml",
		"Validating webhook":          "pilot.sh --event validating --object berth.yaml",
		"Conversion":                  "pilot.sh --event conversion --object v1alpha1.yaml",
	} {
		_, section, found := strings.Cut(text, "\n## "+heading+"\n")
		if !found {
			t.Errorf("docs/binding-contexts.md has no section %q", heading)
			continue
		}
		var documented, printed any
		decode(t, blocks(section, "json")[0], &documented)
		decode(t, operontest.Run(t, dir, append([]string{"hooks", "context"}, strings.Fields(args)...)...), &printed)
		if diff := cmp.Diff(printed, documented, cmp.FilterPath(isUID, cmp.Ignore())); diff != "" {
			t.Errorf("docs/binding-contexts.md, %s (-printed +documented):\n%s", heading, diff)
		}
	}
}

// isUID reports whether a path leads to the uid of a request, which differs each time.
func isUID(p cmp.Path) bool {
	for _, step := range p {
		if index, ok := step.(cmp.MapIndex); ok && index.Key().String() == "uid" {
			return true
		}
	}
	return false
}

// TestLinks follows the links between the pages of the repository.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(repository.Path("docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, repository.Path("README.md"), repository.Path("CONTRIBUTING.md"))
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	for _, from := range pages {
		name, err := filepath.Rel(repository.Path(), from)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(page(t, name), -1) {
			target := from
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(from), filepath.FromSlash(m[1]))
			}
			content, err := os.ReadFile(target)
			if info, statErr := os.Stat(target); statErr == nil && info.IsDir() && m[2] == "" {
				continue
			}
			if err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if m[2] != "" && !slices.Contains(anchors(string(content)), m[2]) {
				t.Errorf("%s links to %s#%s, and no heading has this anchor", name, m[1], m[2])
			}
		}
	}
}

// TestNames checks that the names of Go code and the paths of files in the pages for
// contributors exist.
func TestNames(t *testing.T) {
	t.Parallel()
	identifier := regexp.MustCompile(`\b[A-Za-z_]\w*\b`)
	known := map[string]bool{}
	for _, dir := range []string{"cmd", "internal", "plugins", "templates"} {
		err := filepath.WalkDir(repository.Path(dir), func(name string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(name) != ".go" {
				return err
			}
			content, err := os.ReadFile(name)
			for _, word := range identifier.FindAllString(string(content), -1) {
				known[word] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var (
		span = regexp.MustCompile("`([^`\n]+)`")
		name = regexp.MustCompile(`^\*?(?:\w+\.)+([A-Z]\w*)(?:\(.*\))?$`)
		path = regexp.MustCompile(`^(?:internal|plugins|templates|testdata)/[a-z][\w./-]+$`)
	)
	for _, from := range []string{"CONTRIBUTING.md", "docs/architecture.md"} {
		for _, m := range span.FindAllStringSubmatch(page(t, from), -1) {
			if id := name.FindStringSubmatch(m[1]); id != nil && !known[id[1]] {
				t.Errorf("%s names %s, which does not exist", from, m[1])
			}
			if !path.MatchString(m[1]) || strings.Contains(m[1], "NAME") {
				continue
			}
			if _, err := os.Stat(repository.Path(filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s names a file that does not exist: %v", from, err)
			}
		}
	}
}

// anchors returns the anchors that GitHub gives the headings of a page.
func anchors(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		kept := regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all = append(all, strings.ReplaceAll(kept, " ", "-"))
	}
	return all
}

// blocks returns the contents of the fenced blocks of a language.
func blocks(text, language string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

func page(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(repository.Path(filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}

// writeHook writes a hook that prints a configuration.
func writeHook(t *testing.T, dir, name, config string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncat <<'END'\n" + config + "END\n"
	if err := os.WriteFile(filepath.Join(dir, "hooks", name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}
