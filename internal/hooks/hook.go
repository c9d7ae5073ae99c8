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
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/input"
)

// Hook is an executable file that the engine runs.
type Hook struct {
	Name string // the path relative to the hooks folder, with slashes, as the engine names the hook
	Path string // the absolute path

	Owner config.Owner // determines the allowed bindings
}

// Discover lists the hooks below dir as the engine does, ordered by path. Hooks are
// executable files, or hooks that the image makes executable, except hidden files, .yaml, .json, .md and .txt files, and files in
// hidden folders or in folders named lib. The findings report files that look like hooks
// but that the engine ignores, and backups that it runs.
func Discover(dir string) ([]Hook, []finding.Finding, error) {
	var hooks []Hook
	var findings []finding.Finding
	inImage := sync.OnceValue(func() func(string) bool { return executableInImage(dir) })
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
		inLib := slices.Contains(strings.Split(path.Dir(rel), "/"), "lib")
		switch {
		case inLib && executable:
			findings = append(findings, ruleLibExecutable.At(rel, 0, 0,
				"is executable, but the engine does not look for hooks in lib folders: run chmod -x, or move the file"))
		case inLib:
		case executable:
			hooks = append(hooks, Hook{Name: rel, Path: name})
			if isBackup(rel) {
				findings = append(findings, ruleBackup.At(rel, 0, 0,
					"the engine runs this file as a hook, but it looks like a backup: remove it, or run chmod -x"))
			}
		case isScript(name) && !isBackup(rel) && inImage()(rel) && configures(name):
			hooks = append(hooks, Hook{Name: rel, Path: name})
		case isScript(name) && !isBackup(rel):
			findings = append(findings, RuleNotExecutable.At(rel, 1, 0,
				"the engine ignores this script, because it is not executable: run chmod +x, or move the script to a lib folder"))
		}
		return nil
	})
	if err != nil {
		return nil, nil, fault.In("find hooks", err)
	}
	slices.SortFunc(hooks, func(a, b Hook) int { return cmp.Compare(a.Path, b.Path) })
	return hooks, findings, nil
}

// isBackup reports whether a file has a name that editors, patch or sed give to backups.
func isBackup(name string) bool {
	return strings.HasSuffix(name, "~") || slices.Contains([]string{".bak", ".orig", ".rej", ".swp"}, path.Ext(name))
}

func isScript(name string) bool {
	line, err := firstLine(name)
	return err == nil && strings.HasPrefix(line, "#!")
}

// firstLine returns the first line of a file without its line end, limited to the length
// that the kernel reads for #!.
func firstLine(name string) (string, error) {
	f, err := input.Open(name)
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

// read returns the content of the hook's file.
func (h Hook) read() ([]byte, error) {
	return input.ReadFile(h.Path, input.Data)
}

// checkStart checks whether the system can start a hook. ok is false if it cannot; the
// finding is the reason.
func (h Hook) checkStart() (f finding.Finding, ok bool) {
	line, err := firstLine(h.Path)
	switch {
	case err != nil:
		return ruleShebang.At(h.Name, 0, 0, "cannot be read: %v", fault.Reason(err)), false
	case strings.HasPrefix(line, "#!") && strings.HasSuffix(line, "\r"):
		return ruleShebang.At(h.Name, 1, len(line),
			"the lines end with CR LF, so the system looks for an interpreter with a CR in its name: use LF line endings"), false
	case strings.HasPrefix(line, "\xef\xbb\xbf#!"):
		return ruleShebang.At(h.Name, 1, 1, "a byte order mark precedes the #! of the first line: remove it"), false
	case !strings.HasPrefix(line, "#!") && !isBinary(line):
		return ruleShebang.At(h.Name, 1, 1, "has no #! line, so the system cannot start it: add one such as #!/usr/bin/env bash"), false
	}
	return f, true
}

// isBinary reports whether the first line belongs to a compiled program.
func isBinary(line string) bool { return strings.ContainsRune(line, 0) }

// locate converts findings about a printed configuration to findings about the hook's file.
// start is the line of the file where the configuration starts. If start is 0, the position
// in the file is unknown, so error messages quote the rejected line.
func (h Hook) locate(problems []finding.Finding, text []byte, start int) []finding.Finding {
	findings := make([]finding.Finding, len(problems))
	for i, f := range problems {
		findings[i] = finding.Finding{File: h.Name, Rule: f.Rule, Severity: f.Severity, Message: f.Message}
		quote := excerpt(text, f.Line, f.Column)
		switch {
		case f.Line == 0:
		case start > 0:
			findings[i].Line, findings[i].Column = start+f.Line-1, f.Column
			if f.Rule == config.RuleSyntax.Name {
				findings[i].Message += ": " + quote
			}
		case f.IsError():
			findings[i].Message += fmt.Sprintf("; line %d of the --config output: %s", f.Line, quote)
		}
	}
	return findings
}

// lineOfConfig returns the line of a script where its configuration starts, if the script
// contains the configuration literally, as in a here-document. Otherwise, it returns 0.
func lineOfConfig(script, config []byte) int {
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
