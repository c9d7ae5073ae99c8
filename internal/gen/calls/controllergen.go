package calls

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// program is the name of controller-gen.
const program = "controller-gen"

var (
	// programName matches the names of variables for controller-gen itself.
	programName = lazyregexp.New(`(?i)controller[-_]?gen(_(bin|binary|cmd|path|tool))?$`)
	// binary matches the file name of controller-gen, and the last element of its package.
	binary = lazyregexp.New(`^controller-gen(\.exe|[-@]v?[\w.$-]*)?$`)
	// argLike matches the arguments that make controller-gen generate.
	argLike = lazyregexp.New(`^["']?\+?(crd|object|rbac|webhook|schemapatch|applyconfiguration|paths|output)([:=]|$)`)
	// clockYear matches the year of a header that a command computes, from the clock.
	clockYear = lazyregexp.New(`,year=` + unknownName + `\d+_|\byear=` + unknownName + `\d+_,?`)
	// toolsPackage matches the version behind the package of controller-gen.
	toolsPackage = lazyregexp.New(`sigs\.k8s\.io/controller-tools/cmd/controller-gen@(v[\w.+-]+)`)
	// toolsVersion matches the assignment of that version to a variable, or to the name in a list of tools.
	toolsVersion = lazyregexp.New(`\b(?:(?i:controller_?(?:tools|gen)_(?:version|ver))|controller-gen)["']?\s*[:?]{0,3}=\s*["']?(v[\w.+-]+)`)
)

// hasArgument reports whether a text has an argument that makes controller-gen generate.
func hasArgument(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), argLike().MatchString)
}

// Commands that can name controller-gen and do not run it.
var (
	fileCommands = []string{"install", "get", "rm", "mv", "cp", "ln", "test", "["}
	printers     = []string{"echo", "printf", "grep", "sed"}
)

// callIn returns the controller-gen call in the words of a command. ok is false if the
// command does not generate.
func (f *finder) callIn(words []string) (call Call, ok bool) {
	i := slices.IndexFunc(words, func(word string) bool { return binary().MatchString(path.Base(word)) })
	if i < 0 || slices.Contains(fileCommands, words[0]) || slices.Contains(printers, words[0]) {
		return call, false
	}
	generates := false
	for _, arg := range words[i+1:] {
		generates = generates || argLike().MatchString(arg)
		known := strings.TrimSuffix(clockYear().ReplaceAllString(arg, ""), ":")
		call.ClockYear = call.ClockYear || known != arg
		if isUnknown(known) && f.reason(known) == "$()" { // make joins lines so, without a space; it is no argument
			call.Unclear = cmp.Or(call.Unclear, "$(), a variable without a name")
			if known = placeholders().ReplaceAllString(known, ""); known == "" {
				continue
			}
		}
		if isUnknown(known) {
			call.Unclear = cmp.Or(call.Unclear, f.reason(known))
			known = placeholders().ReplaceAllString(known, Unknown)
		}
		call.Args = append(call.Args, known)
	}
	if generates || call.Unclear == "" { // without both, it is one such as controller-gen --version
		return call, generates
	}
	// All arguments may be in a value that is unknown.
	return call, i == 0 || slices.Contains([]string{"run", "tool", "exec"}, words[i-1])
}

// unknownName starts what stands for an unknown value: the name of a variable of the shell, and its value.
const unknownName = "operon_unknown_"

var placeholders = lazyregexp.New(`\$?\{?` + unknownName + `(\d+)_\}?`)

// unknown returns a text that stands for an unknown value in a word.
func (f *finder) unknown(what string) string {
	what = placeholders().ReplaceAllString(what, Unknown)
	if i := slices.Index(f.unknowns, what); i >= 0 {
		return fmt.Sprintf("%s%d_", unknownName, i)
	}
	f.unknowns = append(f.unknowns, what)
	return fmt.Sprintf("%s%d_", unknownName, len(f.unknowns)-1)
}

func isUnknown(text string) bool { return strings.Contains(text, unknownName) }

// reason describes the first unknown value in a word.
func (f *finder) reason(word string) string {
	number := placeholders().FindStringSubmatch(word)
	for i, what := range f.unknowns {
		if number != nil && fmt.Sprint(i) == number[1] {
			return what
		}
	}
	return "what only the shell knows"
}

// Pin is the version of controller-tools that a project installs.
type Pin struct {
	Version string // vX.Y.Z, or "" if there is none
	File    string
	Line    int
}

// pinned records the first version of controller-tools that a line names.
func (f *finder) pinned(c command) {
	if f.pin.Version != "" || !strings.Contains(strings.ToLower(c.text), "controller") {
		return
	}
	m := toolsVersion().FindStringSubmatch(c.text)
	if m == nil {
		m = toolsPackage().FindStringSubmatch(c.text)
	}
	if m != nil && semver.IsValid(m[1]) {
		f.pin = Pin{m[1], c.file, c.line}
	}
}

// goMod finds the version that a go.mod requires, for projects that run controller-gen as a tool
// of their module, or of one below hack.
func (f *finder) goMod(below []string) {
	for _, name := range append([]string{"go.mod"}, below...) {
		if path.Base(name) != "go.mod" || f.pin.Version != "" {
			continue
		}
		content, err := f.project.Read(name)
		if err != nil {
			continue
		}
		file, err := modfile.ParseLax(name, content, nil)
		if err != nil {
			continue
		}
		for _, r := range file.Require {
			if r.Mod.Path == "sigs.k8s.io/controller-tools" {
				f.pin = Pin{r.Mod.Version, name, r.Syntax.Start.Line}
			}
		}
	}
}
