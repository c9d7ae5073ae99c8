// Package corpus writes Go modules with the API types of a typical operator, of any size,
// for tests and benchmarks of generators: pod templates, selectors, conditions, enums,
// nested lists, validation and CEL markers, several versions of some groups, controllers
// with RBAC markers and webhooks. The same size always results in the same bytes.
//
// The modules load and generate; the operators in them do nothing.
package corpus

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"strings"
	"text/template"
)

// Repo is the module path of every corpus.
const Repo = "example.com/corpus"

// perGroup is the number of kinds in a group, and thus in a package.
const perGroup = 10

//go:embed templates
var sources embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{"lower": strings.ToLower}).ParseFS(sources, "templates/*"))

// Files returns the sources of a module with that many kinds, by slash-separated path. The
// caller adds the go.mod and go.sum of a scaffolded project.
func Files(kinds int) (map[string][]byte, error) {
	m := module{}
	for first := 0; first < kinds; first += perGroup {
		if err := m.group(first, min(first+perGroup, kinds)); err != nil {
			return nil, err
		}
	}
	m["hack/boilerplate.go.txt"] = []byte("/*\nCopyright YEAR The corpus.\n*/\n")
	return m, nil
}

// group is a package of types.
type group struct {
	Repo    string
	Name    string
	Version string
	Storage bool // whether this version of the group is stored
	Several bool // whether the group has other versions
}

// kind is a kind with its own files.
type kind struct {
	group
	Kind   string
	Index  int
	Blocks []string // names of templates
}

// Has reports whether the kind has a feature that every n-th kind has.
func (k kind) Has(n, rest int) bool { return k.Index%n == rest }

type module map[string][]byte

// group adds a group with the kinds first to last-1. Every third group has two versions.
func (m module) group(first, last int) error {
	number := first / perGroup
	name := groupNames[number%len(groupNames)]
	if round := number / len(groupNames); round > 0 {
		name = fmt.Sprintf("%s%d", name, round+1)
	}
	versions := []string{"v1"}
	if number%3 == 1 {
		versions = append(versions, "v1beta1")
	}
	for i, version := range versions {
		g := group{Repo: Repo, Name: name, Version: version, Storage: i == 0, Several: len(versions) > 1}
		dir := "api/" + name + "/" + version
		if err := m.add(dir+"/groupversion_info.go", "group.go.tmpl", g); err != nil {
			return err
		}
		if err := m.add(dir+"/shared_types.go", "shared.go.tmpl", g); err != nil {
			return err
		}
		for n := first; n < last; n++ {
			if err := m.kind(dir, newKind(g, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m module) kind(dir string, k kind) error {
	file := strings.ToLower(k.Kind)
	if err := m.add(dir+"/"+file+"_types.go", "types.go.tmpl", k); err != nil {
		return err
	}
	if !k.Storage {
		return nil
	}
	if err := m.add("internal/controller/"+k.Name+"/"+file+"_controller.go", "controller.go.tmpl", k); err != nil {
		return err
	}
	if !k.Has(4, 0) {
		return nil
	}
	return m.add("internal/webhook/"+k.Name+"/"+file+"_webhook.go", "webhook.go.tmpl", k)
}

func (m module) add(path, name string, data any) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	src, err := format.Source(b.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	m[path] = src
	return nil
}

// newKind returns the kind with a number. It has a third of the blocks.
func newKind(g group, n int) kind {
	k := kind{group: g, Index: n, Kind: firstNames[n%len(firstNames)] + lastNames[n/len(firstNames)%len(lastNames)]}
	if round := n / (len(firstNames) * len(lastNames)); round > 0 {
		k.Kind += fmt.Sprint(round + 1)
	}
	for i := range blocks {
		if (i+n)%3 == 0 {
			k.Blocks = append(k.Blocks, blocks[(i+n/3)%len(blocks)])
		}
	}
	return k
}

var (
	groupNames = []string{"fleet", "harbor", "cargo", "crew", "route", "weather", "customs", "yard", "pilot", "radio"}
	firstNames = []string{
		"Anchor", "Ballast", "Beacon", "Berth", "Bilge", "Bosun", "Buoy", "Cabin", "Capstan", "Chart",
		"Compass", "Convoy", "Crane", "Davit", "Dock", "Ferry", "Frigate", "Galley", "Hatch", "Helm",
		"Keel", "Lighter", "Mast", "Mooring", "Pier", "Quay", "Rudder", "Sextant", "Sloop", "Trawler",
	}
	lastNames = []string{
		"", "Policy", "Class", "Claim", "Binding", "Set", "Pool", "Backup", "Restore", "Schedule",
		"Request", "Template", "Profile", "Quota", "Report", "Gateway", "Mirror", "Probe", "Lease", "Plan",
	}
	// blocks are templates for parts of a spec, each with its own types.
	blocks = []string{
		"workload", "selector", "limits", "text", "lists", "maps", "union", "network", "storage", "schedule", "raw", "rules",
	}
)
