package golang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
)

// rescoped returns the event that makes the project namespaced, or that reverts this.
func (x tester) rescoped(namespaced bool) plugin.Event {
	before := *x.cfg
	x.cfg.Namespaced = namespaced
	return plugin.Event{Type: plugin.Edit, Before: &before}
}

// TestRescopeMainAndBack checks that the limit of the manager uses the names in the user's
// main.go, and that removing it restores the file.
func TestRescopeMainAndBack(t *testing.T) {
	t.Parallel()
	imported := func(lines, use string) func(string) string {
		return strings.NewReplacer("\t\"os\"\n", "\t\"os\"\n"+lines, "func main() {\n", use+"\n\nfunc main() {\n").Replace
	}
	for name, c := range map[string]struct {
		edit func(string) string
		want []string
	}{
		"unchanged": {func(s string) string { return s }, []string{"map[string]cache.Config{}"}},
		"imports by other names": {imported("\ttext \"strings\"\n", "var _ = text.ToUpper"),
			[]string{"text.SplitSeq(os.Getenv(", "text.TrimSpace("}},
		"another package with the name cache": {func(s string) string {
			s = strings.NewReplacer("\t\"sigs.k8s.io/controller-runtime/pkg/cache\"", "\tclientcache \"sigs.k8s.io/controller-runtime/pkg/cache\"", "cache.", "clientcache.").Replace(s)
			return imported("\t\"example.org/lib/cache\"\n", "var _ = cache.New")(s)
		}, []string{"map[string]clientcache.Config{}", "= clientcache.Config{}"}},
		"CRLF": {func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, []string{"map[string]cache.Config{}\r\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := initialized(t, nil)
			src := c.edit(x.read(project.DefaultMainFile))
			x.write(project.DefaultMainFile, src)
			x.apply(x.rescoped(true))
			x.contains(project.DefaultMainFile, append(c.want, "= watchedNamespaces()", "managerOptions.Cache.DefaultNamespaces = namespaces")...)
			x.apply(x.rescoped(false))
			if diff := cmp.Diff(src, x.read(project.DefaultMainFile)); diff != "" {
				t.Errorf("after enabling and disabling (-before +after):\n%s", diff)
			}
		})
	}
}

// TestRescopeElsewhere edits a project of another tool whose user limits the manager in another
// package.
func TestRescopeElsewhere(t *testing.T) {
	t.Parallel()
	x := initialized(t, nil)
	if err := x.fs.RemoveAll(".operon"); err != nil {
		t.Fatal(err)
	}
	const limit = "internal/limit/limit.go"
	x.write(limit, "package limit\n\nimport \"os\"\n\nvar Namespaces = os.Getenv(\"WATCH_NAMESPACE\")\n")
	main := "package main\n\nimport _ \"example.org/fleet/internal/limit\"\n\nfunc main() {}\n"
	x.write(project.DefaultMainFile, main)
	x.apply(x.rescoped(true))
	if got := x.read(project.DefaultMainFile); got != main {
		t.Errorf("main.go is now:\n%s", got)
	}
	const want = "cmd/main.go: found no call that creates the manager"
	if _, err := x.plan(x.rescoped(false)); err == nil || err.Error() != want {
		t.Errorf("while the manager is limited, got error %v, want %s", err, want)
	}
	x.write(limit, "package limit\n")
	x.apply(x.rescoped(false))
}

// TestEditWithoutMain edits projects whose main package is in another folder.
func TestEditWithoutMain(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(c *project.Config){
		"limit the manager to namespaces":         func(c *project.Config) { c.Namespaced = true },
		"set up the certificates of the webhooks": func(c *project.Config) { c.SetWebhookCerts(project.SelfCerts) },
	} {
		for _, written := range []bool{false, true} { // by operon
			x := fleet(t, nil)
			x.addWebhook(frigate(), project.Webhooks{Defaulting: true})
			if !written {
				_ = x.fs.RemoveAll(".operon")
			}
			_ = x.fs.Remove(project.DefaultMainFile)
			before := x.cfg.Clone()
			change(x.cfg)
			_, err := x.plan(plugin.Event{Type: plugin.Edit, Before: before})
			hint := "record the file that creates the manager in PROJECT, as in plugins: {layout.operon.dev/v1: {main: cmd/manager/main.go}}, or run operon adopt, which finds it"
			if written {
				hint = "repeat the command with --restore cmd/main.go; or " + hint
			}
			if err == nil || err.Error() != "cmd/main.go is missing: cannot "+want || !strings.HasPrefix(fault.HintOf(err)+";", hint+";") {
				t.Errorf("%s: got error %v, hint %q", want, err, fault.HintOf(err))
			}
		}
	}
}

// TestRescopeMarker limits RBAC markers to a namespace, in both forms of lists that controller-gen reads, and
// reverts it.
func TestRescopeMarker(t *testing.T) {
	t.Parallel()
	const mixed = "nodes are cluster-scoped, and pods are namespaced: write a marker for each, the second one with namespace=fleet-system"
	for args, want := range map[string]struct{ next, warning string }{
		`groups="",resources=pods,verbs=get;list`:                  {`groups="",namespace=fleet-system,resources=pods,verbs=get;list`, ""},
		`groups="",resources={pods,secrets},verbs={get,list}`:      {`groups="",namespace=fleet-system,resources={pods,secrets},verbs={get,list}`, ""},
		`groups="",verbs={get,list},resources="pods"`:              {`groups="",verbs={get,list},namespace=fleet-system,resources="pods"`, ""},
		`groups="",resources=nodes,verbs=get`:                      {"", ""},
		`groups="",resources=pods;nodes,verbs=get`:                 {"", mixed},
		`groups="",resources={pods,nodes},verbs={get,list}`:        {"", mixed},
		`groups="",resources={nodes,pods},verbs={get,list}`:        {"", mixed},
		`groups="",namespace=kube-system,resources=pods,verbs=get`: {"", ""},
		`urls=/metrics,verbs=get`:                                  {"", ""},
		`groups=,resources={pods,verbs=get`:                        {"", ""}, // controller-gen reports it
		`groups=example.org,resources=boats,verbs=get`: {`groups=example.org,namespace=fleet-system,resources=boats,verbs=get`,
			"assumed that boats are namespaced; if they are cluster-scoped, remove namespace=fleet-system"},
	} {
		if want.next == "" {
			want.next = args
		}
		c := &project.Config{ProjectName: "fleet", Namespaced: true}
		next, warning := rescopeMarker(c, args)
		if next != want.next || warning != want.warning {
			t.Errorf("%s:\n got %s %q\nwant %s %q", args, next, warning, want.next, want.warning)
		}
		c.Namespaced = false
		if back, _ := rescopeMarker(c, next); back != args && !strings.Contains(args, "fleet-system") {
			t.Errorf("%s becomes %s, and then %s", args, next, back)
		}
	}
}
