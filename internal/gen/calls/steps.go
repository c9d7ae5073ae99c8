package calls

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Step is a command after a call, which may change the files that the call generates.
type Step struct {
	File    string // of the line, relative to the root
	Line    int
	Command string   // its name, such as sed
	Paths   []string // the files and folders that it changes: absolute, possibly with wildcards
}

// Changes reports whether the step changes a file, by its path relative to the root.
func (s Step) Changes(name string) bool {
	file := path.Join(Root, name)
	return slices.ContainsFunc(s.Paths, func(p string) bool {
		if strings.HasPrefix(file, p+"/") {
			return true
		}
		matches, err := path.Match(p, file)
		return err == nil && matches || p == file
	})
}

// Names reports whether the step names a file itself, by its path relative to the root.
func (s Step) Names(name string) bool { return slices.Contains(s.Paths, path.Join(Root, name)) }

// changed adds a command to the calls before it, if it changes files.
func (s *shell) changed(words []string, redirs []*syntax.Redirect, line int) {
	if len(s.calls) == 0 {
		return
	}
	paths := changedBy(words)
	for _, r := range redirs {
		if r.Word == nil || !slices.Contains([]syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll}, r.Op) {
			continue
		}
		if to, err := s.fields([]*syntax.Word{r.Word}); err == nil {
			paths = append(paths, to...)
		}
	}
	step := Step{File: s.file, Line: line, Command: path.Base(words[0])}
	for _, p := range paths {
		if p = s.abs(p); !isUnknown(p) {
			step.Paths = append(step.Paths, p)
		}
	}
	if len(step.Paths) == 0 {
		return
	}
	for _, i := range s.calls {
		s.finder.calls[i].After = append(s.finder.calls[i].After, step)
	}
}

// redirected adds the redirections of a compound command, such as a loop.
func (s *shell) redirected(stmt *syntax.Stmt) {
	if len(stmt.Redirs) > 0 {
		s.changed([]string{"a redirection"}, stmt.Redirs, s.at(stmt))
	}
}

// changedBy returns the paths that a command changes, removes or writes.
func changedBy(words []string) []string {
	var names []string
	inPlace := false
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			names = append(names, w)
			continue
		}
		flags := strings.TrimLeft(w, "-")
		inPlace = inPlace || strings.HasPrefix(flags, "i") || flags == "pi" || strings.HasPrefix(flags, "pi.")
	}
	switch command := path.Base(words[0]); command {
	case "rm", "tee", "truncate", "patch":
		return names
	case "sed", "gsed", "yq", "perl", "awk", "gawk":
		if inPlace {
			return names
		}
	case "mv":
		return append(names, copied(names)...)
	case "cp", "install":
		return copied(names)
	}
	return nil
}

// copied returns the files that cp writes: the last name, or files in that folder.
func copied(names []string) []string {
	if len(names) < 2 {
		return nil
	}
	to, sources := names[len(names)-1], names[:len(names)-1]
	var files []string
	for _, from := range sources {
		if base := from[strings.LastIndex(from, "/")+1:]; base != "" && base != "." && base != ".." { // it is unknown what such a folder has
			files = append(files, path.Join(to, base))
		}
	}
	if path.Ext(to) != "" {
		files = append(files, to)
	}
	return files
}
