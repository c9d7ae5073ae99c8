package calls

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/lazyregexp"
)

// AddPath returns a version of a file with a further path in each of its calls that run a generator and have one
// line for each path. ok is false if no call has the path afterwards: then a line of the user would have to change.
// src is the version to edit; the calls in it can have other lines than those in the project.
func AddPath(p Project, file string, src []byte, generator, pattern string) (next []byte, ok bool) {
	argument := "paths=" + pattern
	return edit(p, file, src, func(c Call) bool { return c.runs(generator) }, func(c Call) bool { return slices.Contains(c.Args, argument) },
		func(lines []string) []string { return insertPath(lines, argument) })
}

// AddGenerator returns a version of a file with a further generator, which can have options, in each of its calls
// that run another one. ok is false if no call runs it afterwards.
func AddGenerator(p Project, file string, src []byte, after, generator string) (next []byte, ok bool) {
	name, _, _ := strings.Cut(generator, ":")
	name, _, _ = strings.Cut(name, "$")
	return edit(p, file, src, func(c Call) bool { return c.runs(after) }, func(c Call) bool { return c.runs(name) },
		func(lines []string) []string { return insertAfter(lines, after, generator) })
}

// edit edits the lines of the wanted calls in a version of a file that are not done. ok reports whether a wanted
// call is done then.
func edit(p Project, file string, src []byte, wanted, done func(Call) bool, lines func([]string) []string) (next []byte, ok bool) {
	find := func(src []byte) (all []Call, ok bool) {
		f := newFinder(version{p, file, src})
		f.repeated = true
		f.find()
		all = slices.DeleteFunc(f.calls, func(c Call) bool { return c.File != file || c.Unclear != "" || !wanted(c) })
		return slices.DeleteFunc(slices.Clone(all), done), slices.ContainsFunc(all, done)
	}
	missing, _ := find(src)
	slices.SortFunc(missing, func(a, b Call) int { return b.Line - a.Line }) // a new line moves those below it
	if len(slices.CompactFunc(slices.Clone(missing), func(a, b Call) bool { return a.Line == b.Line })) < len(missing) {
		return src, false // several calls in a line
	}
	text := strings.SplitAfter(string(src), "\n")
	for _, c := range missing {
		start, end := c.Line-1, c.Line
		for end < len(text) && continues(text[end-1]) {
			end++
		}
		text = slices.Concat(text[:start], lines(text[start:end]), text[end:])
	}
	next = []byte(strings.Join(text, ""))
	if _, ok = find(next); !ok {
		return src, false
	}
	return next, true
}

// version is a project with another version of a file.
type version struct {
	Project
	file string
	src  []byte
}

func (v version) Read(name string) ([]byte, error) {
	if name == v.file {
		return v.src, nil
	}
	return v.Project.Read(name)
}

func (v version) Containing(extension, text string) ([]string, error) {
	names, err := v.Project.Containing(extension, text)
	if path.Ext(v.file) == extension && !slices.Contains(names, v.file) && bytes.Contains(v.src, []byte(text)) {
		names = append(names, v.file)
	}
	return names, err
}

func continues(line string) bool { return strings.HasSuffix(strings.TrimRight(line, "\r\n"), `\`) }

// pathLine matches a line of a call over several lines with only a path, up to the backslash.
var pathLine = lazyregexp.New(`^([ \t]*)paths=\S+[ \t]*\\\r?\n$`)

// insertPath inserts a line with an argument after the last one that has only a path.
func insertPath(lines []string, argument string) []string {
	for i, line := range slices.Backward(lines) {
		if m := pathLine().FindStringSubmatch(line); m != nil {
			return slices.Insert(slices.Clone(lines), i+1, m[1]+argument+` \`+line[len(strings.TrimRight(line, "\r\n")):])
		}
	}
	return lines
}

// word matches a word of a call, without quotes that contain spaces.
var word = lazyregexp.New(`[^\s\\]+`)

// insertAfter inserts an argument after a generator: before the paths if they follow in the line, or in a line of
// its own if the generator has one.
func insertAfter(lines []string, generator, argument string) []string {
	for i, line := range lines {
		all := word().FindAllStringIndex(line, -1)
		at := slices.IndexFunc(all, func(at []int) bool {
			name, _, _ := strings.Cut(strings.Trim(line[at[0]:at[1]], `"'`), ":")
			return name == generator
		})
		if at < 0 {
			continue
		}
		start, end := all[at][0], all[at][1]
		lines = slices.Clone(lines)
		if len(all) == 1 && continues(line) {
			return slices.Insert(lines, i+1, line[:start]+argument+` \`+line[len(strings.TrimRight(line, "\r\n")):])
		}
		if paths := strings.Index(line[end:], " paths="); paths >= 0 {
			end += paths
		}
		lines[i] = line[:end] + " " + argument + line[end:]
		return lines
	}
	return lines
}
