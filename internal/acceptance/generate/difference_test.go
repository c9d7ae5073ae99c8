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
	"github.com/operon-dev/operon/internal/testkit/peertest"
)

// compare tells how a run of operon differs from what it is to be, and notes whether
// there are errors. aged is a run without a cache over files that are years old.
func (e *edits) compare(want, plain outcome, before map[string]string, got outcome, aged func() outcome) string {
	e.broken = want.code != 0 || refused(before, got)
	before = withWorkSums(before, want, got)
	diff, alone := e.unlikePeer(want, before, got), unlike(plain, got)
	switch {
	case diff == "" && !e.broken:
		return alone
	case alone == "" && e.broken && unlikeFailure(before, got) == "":
		// Of two errors the go command may tell one, or the other once the files are
		// two seconds old, as those are that controller-gen saw.
		return e.unlikePeer(want, before, aged())
	}
	return diff
}

// withWorkSums is the tree before a run with the checksums that the go command adds to
// those of a workspace when it is asked for packages, whoever asks and however it ends.
func withWorkSums(before map[string]string, want, got outcome) map[string]string {
	const name = "project/go.work.sum"
	sums, written := want.files[name]
	if !written || got.files[name] != sums {
		return before
	}
	before = maps.Clone(before)
	before[name] = sums
	return before
}

// unlikeFailure tells how a run of operon differs from one that fails: it has an exit code
// that says so, and has written nothing.
func unlikeFailure(before map[string]string, got outcome) string {
	if got.code != 1 && got.code != 2 {
		return fmt.Sprintf("exit code %d", got.code)
	}
	if diff := cmp.Diff(visible(before), visible(got.files)); diff != "" {
		return "a run that fails changed (-before +after):\n" + diff
	}
	return ""
}

// undecided reports whether the sources are such that controller-gen, or operon
// without a cache, does not do the same every time: two packages of one group
// and version, say, of which a map gives one.
func (e *edits) undecided(want, plain outcome, before map[string]string) bool {
	for range 6 {
		again := e.controllerGen(before, peertest.Peer.Run)
		if want.code != 0 { // what it wrote before it failed is of no interest
			again.files = want.files
		}
		if unlike(want, again) != "" || unlike(plain, e.uncached(before, time.Now())) != "" {
			return true
		}
	}
	return false
}

// unlike tells how two runs differ in what they show; "" is not at all.
func unlike(want, got outcome) string {
	want.files, got.files = visible(want.files), visible(got.files)
	if want.code != 0 {
		want.stderr, got.stderr = strings.Join(messages(want.stderr), "\n"), strings.Join(messages(got.stderr), "\n")
	}
	return cmp.Diff(want, got, cmp.AllowUnexported(outcome{}))
}

// visible is a tree without what operon keeps for itself.
func visible(tree map[string]string) map[string]string {
	tree = maps.Clone(tree)
	maps.DeleteFunc(tree, func(name, _ string) bool { return strings.HasPrefix(name, "project/.operon/") })
	return tree
}

// unlikePeer tells how a run of operon differs from one of controller-gen.
// Either fails as the other does, and then operon has written nothing.
func (e *edits) unlikePeer(want outcome, before map[string]string, got outcome) string {
	if want.code != 0 {
		if diff := unlikeFailure(before, got); diff != "" {
			return diff + "\nwhere controller-gen says\n" + want.stderr
		}
		if got.code == 2 || strings.Contains(want.stderr, "panic: ") || strings.Contains(want.stderr, "\nUsage:\n") {
			return "" // operon does not panic, nor does it explain its usage when a listing fails as a whole
		}
		return cmp.Diff(messages(want.stderr), messages(got.stderr))
	}
	if refused(before, got) {
		return unlikeFailure(before, got)
	}
	if got.code != 0 {
		return fmt.Sprintf("controller-gen is content, operon exits with %d:\n%s", got.code, got.stderr)
	}
	for name, content := range want.files {
		if have, ok := got.files[name]; have != content || !ok {
			return fmt.Sprintf("%s (-controller-gen +operon):\n%s", name, cmp.Diff(content, have))
		}
	}
	for name, content := range visible(got.files) {
		if _, ok := want.files[name]; !ok && before[name] != content {
			return fmt.Sprintf("operon alone wrote %s (-before +after):\n%s", name, cmp.Diff(before[name], content))
		}
	}
	for name := range e.files {
		if _, ok := got.files[name]; !ok {
			return "operon deleted the source " + name
		}
	}
	return ""
}

var cgoAlone = regexp.MustCompile(`^error: (\S+): package \S+ has no file without import "C", and controller-gen writes its code into Go's build cache then\nhint: `)

// passedOver are the names of Go files that a package here may lack.
var passedOver = regexp.MustCompile(`^[_.]|_(?:test|windows|arm64)\.go$`)

// refused reports whether operon rightly refuses what controller-gen writes into Go's
// build cache: code of a package whose files all import "C".
func refused(before map[string]string, got outcome) bool {
	m := cgoAlone.FindStringSubmatch(got.stderr)
	if m == nil || got.code != 1 {
		return false
	}
	dir := path.Dir("project/" + m[1])
	for name, content := range before {
		left := path.Dir(name) != dir || !isGo(name) || passedOver.MatchString(path.Base(name)) || strings.HasPrefix(content, "//go:build ")
		if !left && !strings.Contains(content, `import "C"`) {
			return false
		}
	}
	return strings.Contains(before["project/"+m[1]], `import "C"`)
}

var noise = regexp.MustCompile(`(?m)^(Error: not all generators ran successfully|run .controller-gen .*|hint:  .*|       .*)\n`)

var (
	place  = regexp.MustCompile(`^\S*/([^/\s]+:\d+)|^\S+: (CRD for )`)
	loop   = regexp.MustCompile(`^.*(import cycle not allowed).*$`)
	made   = regexp.MustCompile(`^\d+:\d+: `)
	absent = regexp.MustCompile(`^.*(?:no Go files in|build constraints exclude all Go files in|no required module provides package) \S*?([^/\s;]+)(?:; to add it:)?$`)
)

// messages are the lines of errors, each once and sorted, for controller-gen
// prints them in the order of a map; without the dash for an unknown place,
// without the one of several packages that a map puts first, and with the last
// element alone of a path, which the go command may start from any folder that
// controller-gen lists. Of a folder without sources the go command speaks
// otherwise when its files are two seconds old, and it finds a cycle from
// wherever it starts. What is wrong with code that was made of unknown types
// controller-gen alone tells.
func messages(stderr string) []string {
	text := strings.TrimPrefix(noise.ReplaceAllString(stderr, ""), "error: ")
	var lines []string
	for l := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		l = place.ReplaceAllString(strings.Replace(strings.TrimPrefix(l, "-: "), ":-: ", ": ", 1), "$1$2")
		l = absent.ReplaceAllString(l, "no package $1")
		if !strings.HasPrefix(l, "\tgo get ") && !made.MatchString(l) {
			lines = append(lines, loop.ReplaceAllString(l, "$1"))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}
