package calls

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

var (
	// binary matches the file name of controller-gen, and the last element of its package.
	binary = lazyregexp.New(`^controller-gen(\.exe|[-@]v?[\w.$-]*)?$`)
	// argLike matches the arguments that make controller-gen generate.
	argLike = lazyregexp.New(`^\+?(crd|object|rbac|webhook|schemapatch|applyconfiguration|paths|output)([:=]|$)`)
	// clockYear matches the year of a header that a command computes, from the clock.
	clockYear = lazyregexp.New(`,year=` + unknownName + `\d+_|\byear=` + unknownName + `\d+_,?`)
	// toolsPackage matches the version behind the package of controller-gen.
	toolsPackage = lazyregexp.New(`sigs\.k8s\.io/controller-tools/cmd/controller-gen@(v[\w.+-]+)`)
	// toolsVersion matches the assignment of that version to a variable, or to the name in a list of tools.
	toolsVersion = lazyregexp.New(`\b(?:(?i:controller_?(?:tools|gen)_(?:version|ver))|controller-gen)["']?\s*[:?]{0,3}=\s*["']?(v[\w.+-]+)`)
)

// callIn returns the controller-gen call in the words of a command. ok is false if the
// command does not generate.
func (f *finder) callIn(words []string) (call Call, ok bool) {
	i := slices.IndexFunc(words, func(word string) bool { return binary().MatchString(path.Base(word)) })
	if i < 0 || slices.Contains([]string{"install", "get", "rm", "mv", "cp", "ln", "echo", "printf", "test", "["}, words[0]) {
		return call, false
	}
	generates := false
	for _, arg := range words[i+1:] {
		generates = generates || argLike().MatchString(arg)
		known := strings.TrimSuffix(clockYear().ReplaceAllString(arg, ""), ":")
		call.ClockYear = call.ClockYear || known != arg
		if why := f.reason(known); why != "" {
			known = f.masked(known)
			if call.Unclear == "" {
				call.Unclear = why
			}
		}
		call.Args = append(call.Args, known)
	}
	switch {
	case generates:
		return call, true
	case call.Unclear == "": // such as controller-gen --version
		return call, false
	}
	// All arguments may be in a value that is unknown.
	return call, i == 0 || slices.Contains([]string{"run", "tool", "exec"}, words[i-1])
}

// masked returns a word with Unknown for what is unknown.
func (f *finder) masked(word string) string {
	return lazyUnknown().ReplaceAllString(word, Unknown)
}

var lazyUnknown = lazyregexp.New(`\$?\{?` + unknownName + `\d+_\}?`)

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
		text, ok := f.read(path.Join(Root, name))
		if !ok || path.Base(name) != "go.mod" || f.pin.Version != "" {
			continue
		}
		file, err := modfile.ParseLax(name, []byte(text), nil)
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
