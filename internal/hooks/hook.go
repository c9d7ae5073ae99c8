// Package hooks finds hooks, runs them with --config to get their configuration, and
// validates their scripts and configurations. It needs neither a cluster nor the engine.
package hooks

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
)

// Hook is an executable file that the engine runs.
type Hook struct {
	Name string // the path in the hooks folder, with slashes, as in the engine
	Path string // absolute

	Owner config.Owner // determines the allowed bindings
}

// Discover lists the hooks below dir as the engine does, ordered by path: executable
// files, except hidden files, files in hidden folders and in folders named lib, and .yaml,
// .json, .md and .txt files. Findings are about files that are probably meant to be hooks.
func Discover(dir string) ([]Hook, []finding.Finding, error) {
	var hooks []Hook
	var findings []finding.Finding
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		hidden := strings.HasPrefix(entry.Name(), ".") && rel != "."
		if entry.IsDir() {
			if hidden {
				return fs.SkipDir
			}
			return nil
		}
		if hidden || slices.Contains([]string{".yaml", ".json", ".md", ".txt"}, path.Ext(rel)) {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		executable := info.Mode()&0o111 != 0
		switch inLib := slices.Contains(strings.Split(path.Dir(rel), "/"), "lib"); {
		case inLib && executable:
			findings = append(findings, finding.Finding{File: rel, Rule: ruleLibExecutable,
				Message: "is executable, but the engine does not look for hooks in lib folders: chmod -x, or move it"})
		case inLib:
		case executable:
			hooks = append(hooks, Hook{Name: rel, Path: name})
		case isScript(name):
			findings = append(findings, finding.Finding{File: rel, Line: 1, Rule: RuleNotExecutable,
				Message: "the engine ignores this script, because it is not executable: chmod +x, or move it to a lib folder"})
		}
		return nil
	})
	if err != nil {
		return nil, nil, fault.In("look for hooks", err)
	}
	slices.SortFunc(hooks, func(a, b Hook) int { return cmp.Compare(a.Path, b.Path) })
	return hooks, findings, nil
}

func isScript(name string) bool {
	line, err := firstLine(name)
	return err == nil && strings.HasPrefix(line, "#!")
}

// firstLine returns the first line of a file without its line end, limited to the length
// that the kernel reads for #!.
func firstLine(name string) (string, error) {
	f, err := open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return string(line), nil
}

// open opens a file or folder. It rejects named pipes, because opening one blocks until a
// writer opens it.
func open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, errors.New("it is no file, but a pipe, a socket or a device")
	}
	return os.Open(name)
}

// text returns the content of the hook's file.
func (h Hook) text() ([]byte, error) {
	f, err := open(h.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(f)
}

// startable returns the reason why the system cannot start a hook, or nil.
func (h Hook) startable() *finding.Finding {
	line, err := firstLine(h.Path)
	f := &finding.Finding{File: h.Name, Line: 1, Column: 1, Rule: ruleShebang, Severity: finding.Error}
	switch {
	case err != nil:
		f.Line, f.Column, f.Message = 0, 0, "cannot be read: "+fault.Reason(err).Error()
	case strings.HasPrefix(line, "#!") && strings.HasSuffix(line, "\r"):
		f.Column, f.Message = len(line), "the lines end with CR LF, so the system looks for an interpreter with a CR in its name: use LF line endings"
	case strings.HasPrefix(line, "\xef\xbb\xbf#!"):
		f.Message = "a byte order mark hides the #! of the first line: remove it"
	case !strings.HasPrefix(line, "#!") && !isBinary(line):
		f.Message = "has no #! line, so the system cannot start it: add one such as #!/usr/bin/env bash"
	default:
		return nil
	}
	return f
}

// isBinary reports whether the first line belongs to a compiled program.
func isBinary(line string) bool { return strings.ContainsRune(line, 0) }

// locate converts the problems of a printed configuration to findings. at is the line in
// the hook's file where the configuration starts. If at is 0, the position in the file is
// unknown, so messages quote the rejected text.
func (h Hook) locate(problems []finding.Finding, text []byte, at int) []finding.Finding {
	findings := make([]finding.Finding, len(problems))
	for i, f := range problems {
		findings[i] = finding.Finding{File: h.Name, Rule: f.Rule, Severity: f.Severity, Message: f.Message}
		switch quote := excerpt(text, f.Line, f.Column); {
		case f.Line == 0:
		case at > 0:
			findings[i].Line, findings[i].Column = at+f.Line-1, f.Column
			if f.Rule == config.RuleSyntax {
				findings[i].Message += ": " + quote
			}
		case f.IsError():
			findings[i].Message += fmt.Sprintf("; line %d of what --config printed: %s", f.Line, quote)
		}
	}
	return findings
}

// embedded returns the line of a script at which its configuration occurs literally, as
// in a here-document, or 0.
func embedded(script, config []byte) int {
	config = bytes.TrimRight(config, "\n")
	if len(config) == 0 {
		return 0
	}
	before, after, found := bytes.Cut(script, config)
	if !found || len(before) > 0 && before[len(before)-1] != '\n' || len(after) > 0 && after[0] != '\n' {
		return 0
	}
	return bytes.Count(before, []byte("\n")) + 1
}
