package hooks

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/input"
	"mvdan.cc/sh/v3/syntax"
)

// findHandlers returns the handlers of a script. usesLibrary reports whether the script lets
// the library call them: with hook::run, or with the Hook of the Python library.
func findHandlers(script []byte) (found handlerSet, usesLibrary bool) {
	first, _, _ := bytes.Cut(script, []byte("\n"))
	switch {
	case !bytes.HasPrefix(first, []byte("#!")):
	case bytes.Contains(first, []byte("python")):
		return findPythonHandlers(string(script))
	case bytes.Contains(first, []byte("sh")):
		return findShellHandlers(script)
	}
	return handlerSet{}, false
}

// findShellHandlers is findHandlers for a shell script.
func findShellHandlers(script []byte) (found handlerSet, usesLibrary bool) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(script), "")
	if err != nil {
		return found, false // bash may accept the script nevertheless; it ran for --config
	}
	found = handlerSet{functions: map[string]position{}, nativeName: func(name string) string { return name }}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.FuncDecl:
			found.functions[x.Name.Value] = position{int(x.Name.Pos().Line()), int(x.Name.Pos().Col())}
		case *syntax.CallExpr:
			if len(x.Args) == 0 {
				break
			}
			name := x.Args[0].Lit()
			switch {
			case name == "hook::run":
				usesLibrary = true
			case (name == "source" || name == ".") && len(x.Args) > 1:
				found.sources = append(found.sources, literalSuffix(x.Args[1].Parts))
			case name == "eval":
				found.incomplete = true
			}
		}
		return true
	})
	return found, usesLibrary
}

// literalSuffix returns the end of a word that contains no expansions.
func literalSuffix(parts []syntax.WordPart) string {
	var suffix string
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit:
			suffix += x.Value
		case *syntax.SglQuoted:
			suffix += x.Value
		case *syntax.DblQuoted:
			if quoted := literalSuffix(x.Parts); len(x.Parts) > 0 && isLiteral(x.Parts) {
				suffix += quoted
			} else {
				suffix = quoted
			}
		default:
			suffix = ""
		}
	}
	return suffix
}

// isLiteral reports whether the parts of a quoted string contain no expansions.
func isLiteral(parts []syntax.WordPart) bool {
	for _, part := range parts {
		if _, ok := part.(*syntax.Lit); !ok {
			return false
		}
	}
	return true
}

// followSources adds the functions of sourced files, recursively. It reports whether it
// found all of these files.
func (s *Sandbox) followSources(found *handlerSet) bool {
	seen := map[string]bool{}
	for len(found.sources) > 0 {
		name := found.sources[0]
		found.sources = found.sources[1:]
		if path.Base(name) == "shell_lib.sh" || seen[name] {
			continue
		}
		seen[name] = true
		files := s.filesEndingWith(name)
		if len(files) == 0 {
			return false
		}
		for _, file := range files {
			text, err := input.ReadFile(file, input.Text)
			if err != nil {
				return false
			}
			more, _ := findShellHandlers(text)
			if more.functions == nil {
				return false
			}
			maps.Copy(found.functions, more.functions)
			found.sources, found.incomplete = append(found.sources, more.sources...), found.incomplete || more.incomplete
		}
	}
	return !found.incomplete
}

// filesEndingWith returns the files below the hooks folder whose path ends with a name.
func (s *Sandbox) filesEndingWith(name string) []string {
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
