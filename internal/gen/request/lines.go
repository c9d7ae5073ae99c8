package request

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/calls"
	"github.com/operon-dev/operon/internal/project"
	"sigs.k8s.io/yaml"
)

// Lines returns a hint with the lines for PROJECT that record the calls. what says what to do
// with the place that follows. In calls that are not understood, operon's defaults replace what
// is unknown, with a comment.
func (j *Jobs) Lines(what string) string {
	var all [][]line
	taken := map[string]bool{} // generators
	for _, job := range j.List {
		if j.Guesses() {
			break
		}
		var args []line
		for _, arg := range job.Args {
			args = append(args, line{arg, ""})
			taken[keyOf(arg)] = true
		}
		all = append(all, args)
	}
	for _, c := range j.Unclear {
		if args := j.completed(c, taken); len(args) > 0 {
			all = append(all, args)
		}
	}
	return what + " " + j.place(settingsLines(all))
}

// line is an argument, a comment, or an argument with a comment.
type line struct{ arg, comment string }

func (l line) String() string {
	if l.arg == "" {
		return "# " + l.comment
	}
	text, err := yaml.Marshal(l.arg)
	if err != nil {
		return "# " + err.Error() // texts can always be encoded
	}
	item := "- " + strings.TrimRight(string(text), "\n")
	if l.comment != "" {
		item += " # " + l.comment
	}
	return item
}

// settingsLines returns the lines below ConfigKey that record calls.
func settingsLines(all [][]line) []string {
	lines, indent := []string{"args:"}, ""
	if len(all) != 1 {
		lines, indent = []string{"calls:"}, "  "
	}
	for _, args := range all {
		if len(all) != 1 {
			lines = append(lines, "- args:")
		}
		for _, l := range args {
			lines = append(lines, indent+l.String())
		}
	}
	return lines
}

// place puts lines below the keys that PROJECT lacks, and names those that it has.
func (j *Jobs) place(lines []string) string {
	where := project.File + ":\n"
	indent := strings.Repeat("  ", len(j.keys))
	if n := len(j.keys); n > 0 {
		where = j.keys[n-1] + " in " + where
	}
	for _, key := range []string{"plugins", ConfigKey}[len(j.keys):] {
		where += indent + key + ":\n"
		indent += "  "
	}
	return where + indent + strings.Join(lines, "\n"+indent)
}

// keysIn returns the keys above the calls that PROJECT has.
func keysIn(c *project.Config) []string {
	switch {
	case c == nil || len(c.Plugins) == 0:
		return nil
	case c.Plugins[ConfigKey] == nil:
		return []string{"plugins"}
	}
	return []string{"plugins", ConfigKey}
}

// completed returns the arguments of a call that is not understood, with defaults for what is
// unknown. If nothing of it is known, these are the default generators that no other call has.
func (j *Jobs) completed(c calls.Call, taken map[string]bool) []line {
	var args []string
	unknown := map[string]string{} // by the key of the argument
	for _, arg := range relevant(c.Args) {
		key := keyOf(arg)
		if strings.Contains(arg, calls.Unknown) {
			unknown[key] = arg
			arg = j.defaultFor(key)
		}
		if arg != "" {
			args = append(args, arg)
		}
	}
	if !slices.ContainsFunc(args, func(arg string) bool { return keyOf(arg) == "paths" }) {
		args, unknown["paths"] = append(args, j.defaultFor("paths")), "none that is known"
	}
	var lines []line
	parsed := j.parsed(args, c.Dir)
	if parsed == nil {
		parsed = j.defaults.without(taken)
		unknown = nil
		lines = append(lines, line{comment: "operon's defaults, because it does not understand " + c.At()})
	}
	if len(parsed.generators) == 0 {
		return nil
	}
	for _, g := range parsed.generators {
		taken[g.Name] = true
	}
	for _, arg := range parsed.args() {
		l := line{arg: arg}
		if was := unknown[keyOf(arg)]; was != "" {
			l.comment = "operon's default; " + c.At() + " has " + was
			delete(unknown, keyOf(arg))
		}
		lines = append(lines, l)
	}
	for _, arg := range relevant(c.Args) {
		if unknown[keyOf(arg)] == arg {
			lines = append(lines, line{comment: c.At() + " also has " + arg})
		}
	}
	return lines
}

// parsed parses the arguments of a call that runs in a folder, with paths. It returns nil if they generate nothing, or
// cannot be parsed.
func (j *Jobs) parsed(args []string, dir string) *arguments {
	a, err := parse(args)
	if err != nil || len(a.generators) == 0 || a.resolve() != nil {
		return nil
	}
	if outside, why := a.rebase(dir); outside || why != "" {
		return nil
	}
	return a
}

// defaultFor returns the default argument with a key, or "".
func (j *Jobs) defaultFor(key string) string {
	for _, arg := range j.defaults.args() {
		if keyOf(arg) == key {
			return arg
		}
	}
	return ""
}

// keyOf returns what an argument is about: the name of a generator, output:<generator>, or paths.
func keyOf(arg string) string {
	parts := strings.SplitN(strings.TrimPrefix(arg, "+"), ":", 3)
	if parts[0] == "output" && len(parts) == 3 {
		return parts[0] + ":" + parts[1]
	}
	key, _, _ := strings.Cut(parts[0], "=")
	return key
}
