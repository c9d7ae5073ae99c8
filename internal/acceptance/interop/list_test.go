//go:build unix && testall

package interop

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/manifesttest"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestKubebuilderList runs the commands with which kubebuilder builds its own test projects, with both
// tools. operon must accept all of them. Everything that kubebuilder's project has in PROJECT and in its
// manifests must be in operon's, or be a row of the table of what is different.
func TestKubebuilderList(t *testing.T) {
	t.Parallel()
	kubebuilder := newPeer(t)
	lists, err := filepath.Glob("testdata/kubebuilder/*.commands")
	if err != nil || len(lists) == 0 {
		t.Fatal(lists, err)
	}
	var mu sync.Mutex
	lacking := map[string]bool{}
	t.Run("lists", func(t *testing.T) {
		for _, list := range lists {
			commands, err := operontest.Commands(list)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(strings.TrimSuffix(filepath.Base(list), ".commands"), func(t *testing.T) {
				t.Parallel()
				theirs := sharedProject{t, filepath.Join(t.TempDir(), "fleet"), kubebuilder}
				ours := sharedProject{t, filepath.Join(t.TempDir(), "fleet"), kubebuilder}
				for _, words := range commands {
					theirs.listed("kubebuilder", words)
					ours.listed("operon", words)
				}
				for _, fact := range ours.lacks(theirs) {
					mu.Lock()
					lacking[fact] = true
					mu.Unlock()
				}
			})
		}
	})
	for _, cells := range docTable(t, kubebuilderDoc, "contents") {
		before := len(lacking)
		maps.DeleteFunc(lacking, func(fact string, _ bool) bool { return wildcards(cells[0]).MatchString(fact) })
		if len(lacking) == before {
			t.Errorf("docs/%s has a row for %s, but nothing of that differs", kubebuilderDoc, cells[0])
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(lacking)) {
		t.Errorf("operon's project lacks %s", fact)
	}
}

// wildcards returns the pattern for a text whose asterisks match any text.
func wildcards(text string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*") + "$")
}

// listed runs a command of a list with one of the tools. Before the chart, it does what make
// build-installer does.
func (x sharedProject) listed(tool string, words []string) {
	x.Helper()
	treetest.MakeDir(x.T, x.dir)
	words = slices.Clone(words)
	switch {
	case words[0] == "create":
		words = append(words, "--make=false")
	case slices.Contains(words, "helm.kubebuilder.io/v2-alpha"):
		x.generateManifests()
		treetest.WriteFile(x.T, filepath.Join(x.dir, "dist/install.yaml"), x.installer())
	}
	if tool == "operon" {
		operontest.Run(x.T, x.dir, words...)
		return
	}
	if words[0] == "init" {
		x.kubebuilder.must(x.T, x.dir, append(words, "--skip-go-version-check", "--fetch-deps=false")...)
		x.modules()
		return
	}
	// v4.15 does not have the flag.
	words = slices.DeleteFunc(words, func(w string) bool { return w == "--ssa" })
	if slices.Contains(words, "--image") {
		words = append(words, "--manifests=false")
	}
	x.kubebuilder.must(x.T, x.dir, words...)
}

// generateManifests generates with operon, whose files are controller-gen's.
func (x sharedProject) generateManifests() {
	x.Helper()
	operontest.Run(x.T, x.dir, "manifests", "--controller-tools", "operon")
}

// installer returns what make build-installer writes.
func (x sharedProject) installer() string {
	x.Helper()
	text, err := manifesttest.Kustomize(x.T, filepath.Join(x.dir, "config/default")).AsYaml()
	if err != nil {
		x.Fatal(err)
	}
	return string(text)
}

// lacks returns what only their manifests contain, and reports what only their PROJECT has.
func (x sharedProject) lacks(theirs sharedProject) []string {
	x.Helper()
	for _, name := range []string{"go.mod", "go.sum"} { // kubebuilder would download
		treetest.WriteFile(x.T, filepath.Join(theirs.dir, name), treetest.ReadFile(x.T, filepath.Join(x.dir, name)))
	}
	theirs.generateManifests()
	x.generateManifests()
	before, after := theirs.project(), x.project()
	delete(before, "cliVersion")
	delete(before["plugins"].(map[string]any), "generate.operon.dev/v1")
	if missing := missingKeys("", before, after); len(missing) > 0 {
		x.Errorf("PROJECT differs: %v", missing)
	}
	have := x.contents()
	return slices.DeleteFunc(theirs.contents(), func(fact string) bool { return slices.Contains(have, fact) })
}

// contents returns what the manifests of a project contain: the objects of config/default with their
// rules, webhooks and versions, and the entries of all kustomizations.
func (x sharedProject) contents() []string {
	x.Helper()
	var all []string
	add := func(words ...any) {
		fact := strings.TrimSpace(fmt.Sprintln(words...))
		if !slices.Contains(all, fact) {
			all = append(all, fact)
		}
	}
	for _, object := range manifesttest.Kustomize(x.T, filepath.Join(x.dir, "config/default")).Resources() {
		content, err := object.Map()
		if err != nil {
			x.Fatal(err)
		}
		name := strings.TrimPrefix(object.GetName(), "fleet-")
		add(object.GetKind(), name)
		switch object.GetKind() {
		case "ClusterRole", "Role":
			for _, rule := range items(content, "rules") {
				for _, group := range items(rule, "apiGroups") {
					for _, resource := range items(rule, "resources") {
						for _, verb := range items(rule, "verbs") {
							add(name, "may", verb, fmt.Sprintf("%v/%v", group, resource))
						}
					}
				}
			}
		case "CustomResourceDefinition":
			scope, _ := manifesttest.Lookup(content, "spec.scope")
			add(name, "has the scope", scope)
			for _, v := range items(content, "spec", "versions") {
				version := v.(map[string]any)
				add(name, "has", version["name"], "served", version["served"], "stored", version["storage"], "subresources", version["subresources"])
				for _, field := range items(v, "schema", "openAPIV3Schema", "properties", "spec", "required") {
					add(name, "requires", field)
				}
			}
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			for _, w := range items(content, "webhooks") {
				webhook := w.(map[string]any)
				path, _ := manifesttest.Lookup(w, "clientConfig.service.path")
				add("webhook", webhook["name"], "has the path", path, "and the rules", webhook["rules"])
				add("webhook", webhook["name"], "has the failure policy", webhook["failurePolicy"])
			}
		case "Deployment":
			for _, c := range items(content, "spec", "template", "spec", "containers") {
				for _, arg := range items(c, "args") {
					add("manager runs with", arg)
				}
				for _, v := range items(c, "volumeMounts") {
					path, _ := manifesttest.Lookup(v, "mountPath")
					add("manager mounts", path)
				}
			}
		}
	}
	x.entries(add)
	x.targets(add)
	x.values(add)
	x.metrics(add)
	return all
}

var metric = regexp.MustCompile(`([a-z_]+)\{job=`)

// metrics adds the metrics that the dashboards show.
func (x sharedProject) metrics(add func(words ...any)) {
	x.Helper()
	for name, content := range treetest.Read(x.T, filepath.Join(x.dir, "grafana")) {
		for _, found := range metric.FindAllStringSubmatch(content, -1) {
			if filepath.Ext(name) == ".json" {
				add("a dashboard shows", found[1])
			}
		}
	}
}

var target = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):( |$)`)

// targets adds the targets of the Makefile.
func (x sharedProject) targets(add func(words ...any)) {
	x.Helper()
	for _, found := range target.FindAllStringSubmatch(treetest.ReadFile(x.T, filepath.Join(x.dir, "Makefile")), -1) {
		add("make target", found[1])
	}
}

var valueRead = regexp.MustCompile(`\.Values\.([A-Za-z.]+)`)

// values adds the values of the chart, if there is one: those in values.yaml, and those that its templates read.
func (x sharedProject) values(add func(words ...any)) {
	x.Helper()
	chart := filepath.Join(x.dir, "dist/chart")
	if _, err := os.Stat(chart); err != nil {
		return
	}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		section, _ := v.(map[string]any)
		for key, v := range section {
			add("chart has the value", path+key)
			walk(path+key+".", v)
		}
	}
	walk("", manifesttest.ReadYAML(x.T, filepath.Join(chart, "values.yaml")))
	for _, content := range treetest.Read(x.T, filepath.Join(chart, "templates")) {
		for _, found := range valueRead.FindAllStringSubmatch(content, -1) {
			add("chart has the value", found[1])
		}
	}
}

// entries adds the entries of the kustomizations below config.
func (x sharedProject) entries(add func(words ...any)) {
	x.Helper()
	err := filepath.WalkDir(filepath.Join(x.dir, "config"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "kustomization.yaml" {
			return err
		}
		rel, err := filepath.Rel(x.dir, filepath.Dir(name))
		if err != nil {
			return err
		}
		content := manifesttest.ReadYAML(x.T, name)
		for _, list := range []string{"resources", "patches", "configurations", "components"} {
			for _, entry := range items(content, list) {
				if patch, ok := entry.(map[string]any); ok {
					entry = patch["path"]
				}
				add(filepath.ToSlash(rel), "lists", entry)
			}
		}
		return nil
	})
	if err != nil {
		x.Fatal(err)
	}
}

// items returns the items of a list in nested maps.
func items(v any, path ...string) []any {
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	list, _ := v.([]any)
	return list
}
