//go:build unix && testall

package interop

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/repository"
	"github.com/operon-dev/operon/internal/testkit/treetest"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// TestSDKPermissions compares the table of permissions with the roles that both tools write for the
// golden Helm project. With -update it rewrites the table.
func TestSDKPermissions(t *testing.T) {
	t.Parallel()
	shops := repository.Path("testdata", "golden", "shops")
	ours := permissionsOf(t, treetest.ReadFile(t, filepath.Join(shops, "config", "rbac", "role.yaml")))
	theirs := permissionsOf(t, sdkRole(t, filepath.Join(shops, project.File)))
	table := "\n\n| for the charts of the golden project | operator-sdk | operon |\n| --- | --- | --- |\n" +
		row("permissions: a verb on a resource", len(theirs.all), len(ours.all)) +
		row("of these, not needed", len(without(theirs.all, ours.all)), 0) +
		row("needed, but not granted", len(without(ours.all, theirs.all)), 0) +
		row("needed resources without any permission", resources(ours.all, theirs.all), "none") +
		row("permissions on resources that are not needed", resources(theirs.all, ours.all), "none") +
		row("verbs on Secrets", theirs.on("secrets"), ours.on("secrets")) + "\n"

	page := repository.Path("docs", sdkDoc)
	text := treetest.ReadFile(t, page)
	before, rest, _ := strings.Cut(text, "<!-- permissions -->")
	documented, after, ok := strings.Cut(rest, "<!-- end -->")
	if !ok {
		t.Fatalf("%s has no table of permissions", sdkDoc)
	}
	if *operontest.Update {
		treetest.WriteFile(t, page, before+"<!-- permissions -->"+table+"<!-- end -->"+after)
		return
	}
	if diff := cmp.Diff(documented, table); diff != "" {
		t.Errorf("the table in %s differs (-doc +now):\n%s", sdkDoc, diff)
	}
}

// sdkRole returns the role that operator-sdk writes without a cluster for the kinds in PROJECT. It
// executes the templates in the sources of operator-sdk.
func sdkRole(t *testing.T, projectFile string) string {
	t.Helper()
	c, err := project.Parse([]byte(treetest.ReadFile(t, projectFile)))
	if err != nil {
		t.Fatal(err)
	}
	texts := constants(t, filepath.Join(peertest.Module(t, sdkModule), "internal/plugins/helm/v1/scaffolds/internal/templates/config/rbac/manager_role.go"))
	rules, err := template.New("rules").Parse(texts["rulesFragment"])
	if err != nil || texts["roleTemplate"] == "" {
		t.Fatalf("the templates of operator-sdk: %v; constants: %d", err, len(texts))
	}
	var fragments bytes.Buffer
	for _, r := range c.Resources {
		if err := rules.Execute(&fragments, map[string]any{
			"Resource":         map[string]string{"QualifiedGroup": r.QualifiedGroup(), "Version": r.Version, "Kind": r.Kind, "Plural": r.PluralName()},
			"SkipDefaultRules": false, "CustomRules": nil,
		}); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf(texts["roleTemplate"], fragments.String())
}

// constants returns the texts of the constants in a Go file.
func constants(t *testing.T, name string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			texts[spec.Names[0].Name], _ = strconv.Unquote(literal.Value)
		}
		return true
	})
	return texts
}

// permission is a verb on a resource, such as jobs.batch.
type permission struct{ resource, verb string }

type permissions struct {
	all     map[permission]bool
	written map[permission]bool // with * as in the role
}

// allVerbs are what the verb * stands for.
var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// permissionsOf returns the permissions that the roles of a file grant.
func permissionsOf(t *testing.T, file string) permissions {
	t.Helper()
	p := permissions{map[permission]bool{}, map[permission]bool{}}
	for doc := range strings.SplitSeq(file, "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(doc), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					p.add(strings.TrimSuffix(resource+"."+group, "."), rule.Verbs)
				}
			}
		}
	}
	return p
}

func (p permissions) add(resource string, verbs []string) {
	for _, verb := range verbs {
		p.written[permission{resource, verb}] = true
		if verb == rbacv1.VerbAll {
			p.add(resource, allVerbs)
		}
		p.all[permission{resource, verb}] = verb != rbacv1.VerbAll
	}
	delete(p.all, permission{resource, rbacv1.VerbAll})
}

// on returns the verbs on a resource as the role writes them; * includes all others.
func (p permissions) on(resource string) string {
	if p.written[permission{resource, rbacv1.VerbAll}] {
		return "`*`"
	}
	var verbs []string
	for q := range p.all {
		if q.resource == resource {
			verbs = append(verbs, q.verb)
		}
	}
	slices.Sort(verbs)
	return strings.Join(verbs, ", ")
}

// without returns the permissions of a that b lacks.
func without(a, b map[permission]bool) map[permission]bool {
	rest := map[permission]bool{}
	for p := range a {
		if !b[p] {
			rest[p] = true
		}
	}
	return rest
}

// resources returns the resources on which a has permissions and b has none.
func resources(a, b map[permission]bool) string {
	known := map[string]bool{}
	for p := range b {
		known[p.resource] = true
	}
	var names []string
	for p := range a {
		if !known[p.resource] {
			names = append(names, p.resource)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func row(name string, theirs, ours any) string {
	return fmt.Sprintf("| %s | %v | %v |\n", name, theirs, ours)
}
