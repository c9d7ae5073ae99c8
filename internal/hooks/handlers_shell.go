package hooks

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// handlingOf returns what a script says of its handlers, and whether it has the library
// call them.
func handlingOf(script []byte) (said handling, runs bool) {
	first, _, _ := bytes.Cut(script, []byte("\n"))
	switch {
	case !bytes.HasPrefix(first, []byte("#!")):
	case bytes.Contains(first, []byte("python")):
		return pythonHandling(string(script))
	case bytes.Contains(first, []byte("sh")):
		return shellHandling(script)
	}
	return handling{}, false
}

// shellHandling is handlingOf for a script of the shell.
func shellHandling(script []byte) (said handling, runs bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(script), "")
	if err != nil {
		return said, false // bash itself may take it, and it was run
	}
	said = handling{functions: map[string]place{}, spelled: func(name string) string { return name }}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.FuncDecl:
			said.functions[x.Name.Value] = place{int(x.Name.Pos().Line()), int(x.Name.Pos().Col())}
		case *syntax.CallExpr:
			if len(x.Args) == 0 {
				break
			}
			switch name := x.Args[0].Lit(); {
			case name == "hook::run":
				runs = true
			case (name == "source" || name == ".") && len(x.Args) > 1:
				said.sources = append(said.sources, tail(x.Args[1].Parts))
			case name == "eval":
				said.unclear = true
			}
		}
		return true
	})
	return said, runs
}

// tail is the end of a word, as far as it is written out.
func tail(parts []syntax.WordPart) string {
	var end string
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit:
			end += x.Value
		case *syntax.SglQuoted:
			end += x.Value
		case *syntax.DblQuoted:
			if inner := tail(x.Parts); len(x.Parts) > 0 && allWritten(x.Parts) {
				end += inner
			} else {
				end = inner
			}
		default:
			end = ""
		}
	}
	return end
}

// allWritten reports whether nothing in quotes is known only when the script runs.
func allWritten(parts []syntax.WordPart) bool {
	for _, part := range parts {
		if _, written := part.(*syntax.Lit); !written {
			return false
		}
	}
	return true
}

// follow adds the functions of the files that a script reads, and of those that these
// read. It reports whether all of them are known.
func (s *Sandbox) follow(said *handling) bool {
	seen := map[string]bool{}
	for len(said.sources) > 0 {
		name := said.sources[0]
		said.sources = said.sources[1:]
		if path.Base(name) == "shell_lib.sh" || seen[name] {
			continue
		}
		seen[name] = true
		files := s.named(name)
		if len(files) == 0 {
			return false
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return false
			}
			more, _ := shellHandling(text)
			if more.functions == nil {
				return false
			}
			maps.Copy(said.functions, more.functions)
			said.sources, said.unclear = append(said.sources, more.sources...), said.unclear || more.unclear
		}
	}
	return !said.unclear
}

// named are the files below the folder of hooks whose paths end with a name.
func (s *Sandbox) named(name string) []string {
	name = strings.TrimLeft(strings.TrimPrefix(name, "/hooks/"), "./")
	if name == "" {
		return nil
	}
	var files []string
	_ = filepath.WalkDir(s.dir, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.HasSuffix(filepath.ToSlash(file), "/"+name) {
			files = append(files, file)
		}
		return nil
	})
	return files
}
