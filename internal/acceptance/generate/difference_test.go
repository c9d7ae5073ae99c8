//go:build unix

package generate

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/testkit/answers"
)

// compare describes how a run with the cache differs from a run of controller-gen and from
// one without a cache, and records whether the project has errors. aged runs operon without
// a cache on files that are years old.
func (e *editedProject) compare(want, plain outcome, before map[string]string, got outcome, aged func() outcome) string {
	e.broken = want.code != 0 || rejectedCgo(before, got) || wrongDeclaration.MatchString(got.stderr)
	before = withWorkSums(before, want, got)
	diff, cacheDiff := e.diffControllerGen(want, before, got), diffRuns(plain, got)
	switch {
	case diff == "" && !e.broken:
		return cacheDiff
	case cacheDiff == "" && e.broken && diffFailure(before, got) == "":
		// Which of several errors the go command reports can depend on whether files are
		// older than two seconds. controller-gen ran with such files.
		return e.diffControllerGen(want, before, aged())
	}
	return diff
}

// withWorkSums returns the tree before a run, with the checksums that the go command adds to
// go.work.sum whenever it lists packages.
func withWorkSums(before map[string]string, want, got outcome) map[string]string {
	const name = "project/go.work.sum"
	sums, written := want.files[name]
	if !written || !sameContent(sums, got.files[name]) {
		return before
	}
	before = maps.Clone(before)
	before[name] = got.files[name]
	return before
}

// diffFailure describes how a run of operon differs from one that fails with exit code 1 or
// 2 and writes nothing.
func diffFailure(before map[string]string, got outcome) string {
	if got.code != 1 && got.code != 2 {
		return fmt.Sprintf("exit code %d", got.code)
	}
	if diff := cmp.Diff(visible(before), visible(got.files)); diff != "" {
		return "a run that fails changed (-before +after):\n" + diff
	}
	return ""
}

// nondeterministic reports whether repeated runs of controller-gen, or of operon without a cache,
// have different results. Recorded answers are of runs that do not. For example, if two packages have the same group and version, the order
// of a map decides which one is used.
func (e *editedProject) nondeterministic(want, plain outcome, before map[string]string) bool {
	if e.peer.Path == "" {
		return false
	}
	for range 6 {
		again := e.controllerGen(before)
		if want.code != 0 { // what it wrote before it failed does not matter
			again.files = want.files
		}
		if diffRuns(want, again) != "" || diffRuns(plain, e.uncached(before, time.Now())) != "" {
			return true
		}
	}
	return false
}

// diffRuns describes how the visible results of two runs differ. It is empty for equal ones.
func diffRuns(want, got outcome) string {
	want.files, got.files = visible(want.files), visible(got.files)
	if want.code != 0 {
		want.stderr, got.stderr = strings.Join(messages(want.stderr), "\n"), strings.Join(messages(got.stderr), "\n")
	}
	return cmp.Diff(want, got, cmp.AllowUnexported(outcome{}))
}

// visible returns a tree without the files in .operon.
func visible(tree map[string]string) map[string]string {
	tree = maps.Clone(tree)
	maps.DeleteFunc(tree, func(name, _ string) bool { return strings.HasPrefix(name, "project/.operon/") })
	return tree
}

// diffControllerGen describes how a run of operon differs from one of controller-gen. If one fails, the
// other must fail, too, and operon must write nothing.
func (e *editedProject) diffControllerGen(want outcome, before map[string]string, got outcome) string {
	if want.code != 0 {
		if diff := diffFailure(before, got); diff != "" {
			return diff + "\nwhere controller-gen prints\n" + want.stderr
		}
		if e.asked > 0 || got.code == 2 || strings.Contains(want.stderr, "panic: ") || strings.Contains(want.stderr, "\nUsage:\n") {
			return "" // errors are not recorded; operon neither panics nor prints its usage
		}
		if wrongDeclaration.MatchString(got.stderr) || hasCause(want.stderr, got.stderr) {
			return ""
		}
		return cmp.Diff(messages(want.stderr), messages(got.stderr))
	}
	if rejectedCgo(before, got) || wrongDeclaration.MatchString(got.stderr) {
		return diffFailure(before, got)
	}
	if got.code != 0 {
		return fmt.Sprintf("controller-gen succeeds, operon exits with %d:\n%s", got.code, got.stderr)
	}
	for name, content := range want.files {
		if have, ok := got.files[name]; !sameContent(content, have) || !ok {
			return fmt.Sprintf("%s (-controller-gen +operon):\n%s", name, cmp.Diff(content, have))
		}
	}
	for name, content := range visible(got.files) {
		if _, ok := want.files[name]; !ok && before[name] != content {
			return fmt.Sprintf("only operon wrote %s (-before +after):\n%s", name, cmp.Diff(before[name], content))
		}
	}
	for name := range e.files {
		if _, ok := got.files[name]; !ok {
			return "operon deleted the source " + name
		}
	}
	return ""
}

// sameContent reports whether a file of operon is controller-gen's, of which only the checksum may be recorded.
func sameContent(want, got string) bool { return want == got || want == answers.Sum(got) }

// wrongDeclaration matches errors about types that controller-gen accepts, or on which it crashes, or that it reports in
// the sources of other modules.
var wrongDeclaration = regexp.MustCompile(`(?m)^(?:error: )?\S+:\d+:\d+: ` +
	`(?:\S+ redeclared|invalid recursive type |\S+ cannot be part of an API type|\S+ has no schema: )`)

// oneCause lists errors of operon that replace an error for each import, which have a text in
// common.
var oneCause = []struct{ got, want *regexp.Regexp }{
	{regexp.MustCompile(`: go\.sum has no entry for |^error: go\.sum: the file is missing`), regexp.MustCompile("missing go.sum entry")},
	{regexp.MustCompile(`go\.mod: it replaces `), regexp.MustCompile(`replacement directory |\(replaced by `)},
	{regexp.MustCompile(`: no module that go\.mod requires has `), regexp.MustCompile("no required module provides package")},
	{regexp.MustCompile(`: the folder \S+ of this import does not exist`), regexp.MustCompile("no required module provides package|does not contain package")},
	{regexp.MustCompile(`go\.mod: it makes \S+ another module`), regexp.MustCompile("no required module provides package|does not contain package")},
	{regexp.MustCompile("folder vendor does not match|which has no modules.txt|there is no folder vendor"), regexp.MustCompile("inconsistent vendoring")},
	{regexp.MustCompile(`:\d+:\d+: (?:SideEffects is required|API servers refuse sideEffects=)`), regexp.MustCompile("SideEffects (?:is required|should not)")}, // at the marker
	{regexp.MustCompile(`for matchPolicy; write `), regexp.MustCompile("for matchPolicy")},
	{regexp.MustCompile("not supported in CRD schemas|inline struct types|not a supported map value"), regexp.MustCompile("invalid (?:map value )?type: ")}, // repeated
	{regexp.MustCompile(": it is a file, so it cannot contain "), regexp.MustCompile("not a directory")},
}

// hasCause reports whether operon replaces the errors of controller-gen by their cause.
func hasCause(want, got string) bool {
	return slices.ContainsFunc(oneCause, func(c struct{ got, want *regexp.Regexp }) bool {
		return c.got.MatchString(got) && c.want.MatchString(want)
	})
}

var onlyCgo = regexp.MustCompile(`^error: (\S+): all files of package \S+ import "C", so controller-gen would write its code into Go's build cache\nhint: `)

// ignoredFile matches the names of Go files that are not part of a package on Linux.
var ignoredFile = regexp.MustCompile(`^[_.]|_(?:test|windows|arm64)\.go$`)

// rejectedCgo reports whether operon correctly refuses a package whose files all import "C":
// controller-gen writes its code into the build cache of Go.
func rejectedCgo(before map[string]string, got outcome) bool {
	m := onlyCgo.FindStringSubmatch(got.stderr)
	if m == nil || got.code != 1 {
		return false
	}
	dir := path.Dir("project/" + m[1])
	for name, content := range before {
		other := path.Dir(name) != dir || !isGo(name) || ignoredFile.MatchString(path.Base(name)) || strings.HasPrefix(content, "//go:build ")
		if !other && !strings.Contains(content, `import "C"`) {
			return false
		}
	}
	return strings.Contains(before["project/"+m[1]], `import "C"`)
}

var noise = regexp.MustCompile(`(?m)^(Error: not all generators ran successfully|run .controller-gen .*|hint:  .*|       .*)\n`)

var (
	position      = regexp.MustCompile(`^\S*/([^/\s]+:\d+)|^\S+: (CRD for )`)
	importCycle   = regexp.MustCompile(`^.*(import cycle not allowed).*$`)
	generatedCode = regexp.MustCompile(`^\d+:\d+: `)
	noPackage     = regexp.MustCompile(`^.*(?:no Go files in|build constraints exclude all Go files in|no required module provides package) \S*?([^/\s;]+)(?:; to add it:)?$`)
)

// messages returns the lines of error messages in a form that can be compared:
//   - sorted and without duplicates, because controller-gen prints them in map order
//   - without the dash that stands for an unknown position
//   - without the name of the first package, which is random
//   - with only the last element of a path, which may be relative to any listed folder
//   - with one text for all folders without sources, because the go command's text depends
//     on the age of the files
//   - without the path of an import cycle, which may start at any package
//   - without errors in generated code of unknown types, which only controller-gen reports
func messages(stderr string) []string {
	text := strings.TrimPrefix(noise.ReplaceAllString(stderr, ""), "error: ")
	var lines []string
	for l := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		l = position.ReplaceAllString(strings.Replace(strings.TrimPrefix(l, "-: "), ":-: ", ": ", 1), "$1$2")
		l = noPackage.ReplaceAllString(l, "no package $1")
		if !strings.HasPrefix(l, "\tgo get ") && !generatedCode.MatchString(l) {
			lines = append(lines, importCycle.ReplaceAllString(l, "$1"))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
