package sequences

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
)

// TestSequence runs sequences of valid commands. After each command, a repeat of it and of init has nothing to do; init
// scaffolds everything that PROJECT records. The last tree passes go vet, which compiles its tests, too.
// TestRandomSequences runs others.
func TestSequence(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 4} { // 1 starts with a folder for each group, 4 without
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newSequence(t, seed)
			s.run(t, 6)
			projecttest.WantGo(t, fmt.Sprint("sequence ", seed), s.dir, "vet", "./...")
		})
	}
}

// run runs commands, and then generates.
func (s *sequence) run(t *testing.T, steps int) {
	t.Helper()
	for step := range steps {
		args := s.next()
		t.Logf("%d: operon %s", step, strings.Join(args, " "))
		s.do(t, args)
	}
	operontest.Run(t, s.dir, "generate")
}

// do runs a command. A repeat of it, and of init, has nothing to do.
func (s *sequence) do(t *testing.T, args []string) {
	t.Helper()
	operontest.Run(t, s.dir, args...)
	for _, again := range [][]string{args, {"init"}} {
		if out := operontest.Run(t, s.dir, again...); out != "nothing to do\n" {
			t.Fatalf("a repeat of %v:\n%s", again, out)
		}
	}
}

// sequence generates random commands that are valid in its project.
type sequence struct {
	*rand.Rand
	dir    string
	multi  bool // each group has a folder
	limit  bool // the manager is limited to namespaces
	groups []string
	hubs   map[string]string // by group, the version that the others convert to
	kinds  []*randomKind
}

// randomKind is a kind in the project.
type randomKind struct {
	group, name string
	versions    []string
	controllers int
	clusterWide bool
}

func newSequence(t *testing.T, seed uint64) *sequence {
	s := &sequence{Rand: rand.New(rand.NewPCG(seed, 1)), hubs: map[string]string{}, dir: filepath.Join(t.TempDir(), "fleet")}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.multi, s.limit = seed%2 == 1, seed%3 == 1
	args := []string{"init", "--domain", "example.org", "--repo", "example.org/fleet", fmt.Sprintf("--multigroup=%t", s.multi), fmt.Sprintf("--namespaced=%t", s.limit)}
	if s.multi {
		args = append(args, "--plugins", "olm")
	}
	operontest.Run(t, s.dir, args...)
	s.groups = []string{s.word()}
	return s
}

// next returns a command that is valid now, and records its result.
func (s *sequence) next() []string {
	for {
		if args := s.pick()(); args != nil {
			return args
		}
	}
}

func (s *sequence) pick() func() []string {
	all := []func() []string{s.newKind, s.newKind, s.newOperand, s.newVersion, s.newController, s.newWebhook, s.newWebhook, s.convert, s.features, s.features, s.externalController, s.externalWebhook, s.edit}
	return all[s.IntN(len(all))]
}

func (s *sequence) newKind() []string {
	if s.multi && s.IntN(3) == 0 {
		s.groups = append(s.groups, s.word())
	}
	k := &randomKind{group: s.groups[s.IntN(len(s.groups))], versions: []string{"v1"}, clusterWide: s.IntN(4) == 0}
	k.name = strings.ToUpper(k.group[:1]) + s.word()
	controller := s.IntN(4) > 0
	if controller {
		k.controllers = 1
	}
	s.kinds = append(s.kinds, k)
	return s.api(k, "v1", fmt.Sprintf("--controller=%t", controller))
}

// newOperand creates a kind whose controller deploys an image.
func (s *sequence) newOperand() []string {
	k := &randomKind{group: s.groups[s.IntN(len(s.groups))], versions: []string{"v1"}, controllers: 1}
	k.name = strings.ToUpper(k.group[:1]) + s.word()
	s.kinds = append(s.kinds, k)
	options := [][]string{nil, {"--image-container-port", "8080"}, {"--image-container-command", k.name + ",-v", "--run-as-user", "1001"}}
	return s.api(k, "v1", append([]string{"--image", s.word() + ":v1"}, options[s.IntN(len(options))]...)...)
}

func (s *sequence) newVersion() []string {
	k := s.kind(func(k *randomKind) bool { return len(k.versions) < 3 })
	if k == nil {
		return nil
	}
	version := fmt.Sprint("v", len(k.versions)+1)
	k.versions = append(k.versions, version)
	return s.api(k, version, "--controller=false")
}

func (s *sequence) newController() []string {
	k := s.kind(func(*randomKind) bool { return true })
	if k == nil {
		return nil
	}
	k.controllers++
	return s.api(k, "v1", "--resource=false", "--controller-name", s.word()+"-"+s.word())
}

func (s *sequence) features() []string {
	k := s.kind(func(k *randomKind) bool { return k.controllers > 0 })
	if k == nil {
		return nil
	}
	options := [][]string{
		{"--owns", "apps/v1/StatefulSet,core/v1/ConfigMap"}, {"--owns", "batch/v1/Job"},
		{"--watches", "core/v1/Secret"}, {"--finalizer"}, {"--label", s.word() + "=" + s.word()},
	}
	if k.clusterWide {
		options = options[3:]
	}
	name := strings.ToLower(k.name)
	k.controllers = max(k.controllers, 1)
	return s.api(k, "v1", append([]string{"--resource=false", "--controller-name", name}, options[s.IntN(len(options))]...)...)
}

func (s *sequence) newWebhook() []string {
	k := s.kind(func(*randomKind) bool { return true })
	if k == nil {
		return nil
	}
	flags := [][]string{{"--defaulting"}, {"--programmatic-validation"}, {"--defaulting", "--programmatic-validation"}}
	return s.webhook(k, k.versions[s.IntN(len(k.versions))], flags[s.IntN(len(flags))]...)
}

func (s *sequence) convert() []string {
	k := s.kind(func(k *randomKind) bool { return len(k.versions) > 1 })
	if k == nil {
		return nil
	}
	// The packages of the other versions import the hub's. All kinds of a group
	// have the same hub: otherwise, the packages would import each other.
	hub := s.hubs[k.group]
	if hub == "" {
		hub = k.versions[s.IntN(len(k.versions))]
		s.hubs[k.group] = hub
	}
	if !slices.Contains(k.versions, hub) {
		return nil
	}
	return s.webhook(k, hub, "--conversion")
}

func (s *sequence) externalController() []string {
	kinds := [][]string{{"apps", "Deployment"}, {"core", "Secret"}, {"core", "Node"}, {"batch", "CronJob"}, {"networking", "Ingress"}}
	k := kinds[s.IntN(len(kinds))]
	args := []string{"create", "api", "--group", k[0], "--version", "v1", "--kind", k[1], "--resource=false", "--controller=true"}
	options := [][]string{nil, {"--label", s.word() + "=" + s.word()}, {"--finalizer"}, {"--owns", "core/v1/ConfigMap"}, {"--watches", "batch/v1/Job"}}
	if k[1] == "Node" { // it has no namespace
		options = options[:3]
	}
	return append(args, options[s.IntN(len(options))]...)
}

func (s *sequence) externalWebhook() []string {
	flags := []string{"--defaulting", "--programmatic-validation"}
	return []string{"create", "webhook", "--group", "core", "--version", "v1", "--kind", "Pod", flags[s.IntN(len(flags))]}
}

func (s *sequence) edit() []string {
	if s.IntN(4) == 0 {
		by := []string{"cert-manager", "self"}
		return s.maybeMake([]string{"edit", "--webhook-certs", by[s.IntN(2)]})
	}
	if len(s.kinds) == 0 || s.IntN(2) == 0 {
		s.limit = !s.limit
		return s.maybeMake([]string{"edit", fmt.Sprintf("--namespaced=%t", s.limit)})
	}
	used := map[string]bool{}
	for _, k := range s.kinds {
		used[k.group] = true
	}
	if len(used) > 1 {
		return nil // one folder holds one group
	}
	s.multi = !s.multi
	s.groups = []string{s.kinds[0].group}
	return s.maybeMake([]string{"edit", fmt.Sprintf("--multigroup=%t", s.multi)})
}

func (s *sequence) api(k *randomKind, version string, more ...string) []string {
	args := []string{"create", "api", "--group", k.group, "--version", version, "--kind", k.name}
	if !slices.Contains(more, "--resource=false") {
		args = append(args, fmt.Sprintf("--namespaced=%t", !k.clusterWide))
	}
	return s.maybeMake(append(args, more...))
}

func (s *sequence) webhook(k *randomKind, version string, more ...string) []string {
	return s.maybeMake(append([]string{"create", "webhook", "--group", k.group, "--version", version, "--kind", k.name}, more...))
}

func (s *sequence) maybeMake(args []string) []string {
	return append(args, fmt.Sprintf("--make=%t", s.IntN(4) == 0))
}

// kind returns a random kind that matches, or nil.
func (s *sequence) kind(matches func(*randomKind) bool) *randomKind {
	var fit []*randomKind
	for _, k := range s.kinds {
		if matches(k) {
			fit = append(fit, k)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[s.IntN(len(fit))]
}

// word returns a random word of six letters. Two equal words are unlikely.
func (s *sequence) word() string {
	word := make([]byte, 6)
	for i := range word {
		letters := "bcdfghklmnprstvz"
		if i%2 == 1 {
			letters = "aeiou"
		}
		word[i] = letters[s.IntN(len(letters))]
	}
	return string(word)
}
