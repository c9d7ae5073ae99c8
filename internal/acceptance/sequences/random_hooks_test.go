package sequences

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// TestHookSequence runs a sequence of valid commands in hook projects and of modules. After each command, a repeat of it and
// of init has nothing to do. In the last tree, the hooks are valid. TestRandomHookSequences runs others, and their
// tests.
func TestHookSequence(t *testing.T) {
	t.Parallel()
	for _, plugin := range []string{"shell", "addon"} {
		t.Run(plugin, func(t *testing.T) {
			t.Parallel()
			runHookSequence(t, plugin, 2, 6)
		})
	}
}

// runHookSequence returns the folder of the last tree.
func runHookSequence(t *testing.T, plugin string, seed uint64, steps int) string {
	t.Helper()
	s := &hookSequence{sequence: &sequence{Rand: rand.New(rand.NewPCG(seed, 3)), dir: filepath.Join(t.TempDir(), "fleet")}}
	treetest.MakeDir(t, s.dir)
	operontest.Run(t, s.dir, "init", "--domain", "example.org", "--plugins", plugin)
	next := map[string]func() []string{"shell": s.hooks, "addon": s.modules}[plugin]
	for step := range steps {
		args := next()
		if plugin == "shell" { // modules have roles of their own
			args = append(args, fmt.Sprintf("--make=%t", s.IntN(4) == 0))
		}
		t.Logf("%d: operon %s", step, strings.Join(args, " "))
		s.do(t, args)
	}
	operontest.Run(t, s.dir, "generate")
	operontest.Run(t, s.dir, "hooks", "validate")
	return s.dir
}

// hookSequence generates random commands that are valid in a hook or module project.
type hookSequence struct {
	*sequence
	modulesMade []string
}

// hooks returns the next command for a hook project.
func (s *hookSequence) hooks() []string {
	if len(s.kinds) == 0 || s.IntN(3) == 0 {
		return s.crd()
	}
	args := []string{"create", "hook", s.word() + "-" + s.word()}
	own := s.kinds[s.IntN(len(s.kinds))].name
	for _, some := range [][]string{
		{"--lang", []string{"bash", "python"}[s.IntN(2)]},
		{"--on", "kubernetes:one:Secret,two:" + own, "--selector", "one:app=" + s.word(), "--jq", "two:.metadata.labels"},
		{"--on", "kubernetes:three:Pod", "--namespace", "three:" + s.word(), "--events", "three:Added,Deleted"},
		{"--schedule", "tick:*/5 * * * *", "--group", "tick:" + s.word()},
		{"--mutate", own}, {"--validate", "Pod", "--validate", own},
	} {
		if s.IntN(2) == 0 {
			args = append(args, some...)
		}
	}
	return append(args, "--startup", fmt.Sprint(s.IntN(9)))
}

// crd returns a command that adds a kind, or a version to one.
func (s *hookSequence) crd() []string {
	if k := s.kind(func(k *randomKind) bool { return len(k.versions) < 3 }); k != nil && s.IntN(2) == 0 {
		k.versions = append(k.versions, fmt.Sprint("v", len(k.versions)+1))
		return []string{"create", "api", "--group", k.group, "--version", k.versions[len(k.versions)-1], "--kind", k.name, "--namespaced=" + fmt.Sprint(!k.clusterWide)}
	}
	k := &randomKind{group: s.word(), versions: []string{"v1"}, clusterWide: s.IntN(3) == 0}
	k.name = strings.ToUpper(k.group[:1]) + s.word()
	s.kinds = append(s.kinds, k)
	return []string{"create", "api", "--group", k.group, "--version", "v1", "--kind", k.name, "--namespaced=" + fmt.Sprint(!k.clusterWide)}
}

// modules returns the next command for a module project.
func (s *hookSequence) modules() []string {
	if len(s.modulesMade) == 0 || s.IntN(3) == 0 {
		s.modulesMade = append(s.modulesMade, s.word()+"-"+s.word())
		args := []string{"create", "module", s.modulesMade[len(s.modulesMade)-1]}
		return append(args, [][]string{nil, {"--enabled-script"}, {"--weight", fmt.Sprint(1 + s.IntN(900))}}[s.IntN(3)]...)
	}
	args := []string{"create", "hook", s.word(), "--on", "kubernetes:nodes:Node"}
	if s.IntN(2) == 0 {
		return append(args, "--before-all", fmt.Sprint(s.IntN(50)), "--schedule", "daily:@daily")
	}
	return append(args, "--module", s.modulesMade[s.IntN(len(s.modulesMade))], "--after-helm", fmt.Sprint(s.IntN(50)), "--startup", "3")
}
