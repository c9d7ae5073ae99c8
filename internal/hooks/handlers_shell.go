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

// findHandlers returns the handlers of a script, and whether the script lets the library
// call them.
func findHandlers(script []byte) (found scriptHandlers, runs bool) {
	first, _, _ := bytes.Cut(script, []byte("\n"))
	switch {
	case !bytes.HasPrefix(first, []byte("#!")):
	case bytes.Contains(first, []byte("python")):
		return findPythonHandlers(string(script))
	case bytes.Contains(first, []byte("sh")):
		return findShellHandlers(script)
	}
	return scriptHandlers{}, false
}

// findShellHandlers is findHandlers for a shell script.
func findShellHandlers(script []byte) (found scriptHandlers, runs bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(script), "")
	if err != nil {
		return found, false // bash itself may accept the script; it has already run
	}
	found = scriptHandlers{functions: map[string]place{}, spelled: func(name string) string { return name }}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.FuncDecl:
			found.functions[x.Name.Value] = place{int(x.Name.Pos().Line()), int(x.Name.Pos().Col())}
		case *syntax.CallExpr:
			if len(x.Args) == 0 {
				break
			}
			switch name := x.Args[0].Lit(); {
			case name == "hook::run":
				runs = true
			case (name == "source" || name == ".") && len(x.Args) > 1:
				found.sources = append(found.sources, tail(x.Args[1].Parts))
			case name == "eval":
				found.unclear = true
			}
		}
		return true
	})
	return found, runs
}

// tail returns the literal end of a word.
func tail(parts []syntax.WordPart) string {
	var end string
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit:
			end += x.Value
		case *syntax.SglQuoted:
			end += x.Value
		case *syntax.DblQuoted:
			if inner := tail(x.Parts); len(x.Parts) > 0 && isLiteral(x.Parts) {
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

// isLiteral reports whether all quoted parts of a word are literal.
func isLiteral(parts []syntax.WordPart) bool {
	for _, part := range parts {
		if _, written := part.(*syntax.Lit); !written {
			return false
		}
	}
	return true
}

// follow adds the functions of sourced files, recursively. It reports whether all of them
// are known.
func (s *Sandbox) follow(found *scriptHandlers) bool {
	seen := map[string]bool{}
	for len(found.sources) > 0 {
		name := found.sources[0]
		found.sources = found.sources[1:]
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
			more, _ := findShellHandlers(text)
			if more.functions == nil {
				return false
			}
			maps.Copy(found.functions, more.functions)
			found.sources, found.unclear = append(found.sources, more.sources...), found.unclear || more.unclear
		}
	}
	return !found.unclear
}

// named returns the files below the hooks folder whose path ends with a name.
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
