package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	constraint   = regexp.MustCompile(`(?m)^//go:build (.*)$`)
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
)

// helpers is the build tag of files whose helpers the tests of all suites may use.
const helpers = "testall"

// containsAny reports whether a path contains one of several texts, or whether there are none.
func containsAny(path, texts string) bool {
	all := strings.Fields(texts)
	return len(all) == 0 || slices.ContainsFunc(all, func(text string) bool { return strings.Contains(path, text) })
}

// suite adds to the arguments of go test what selects the tests below dir in files with a build tag.
func suite(dir, tag, only string, args []string) ([]string, error) {
	hasTag := regexp.MustCompile(`\b` + tag + `\b`)
	var names, packages []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "demo" || strings.HasPrefix(d.Name(), ".") && name != dir) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, filepath.Dir(name))
		pkg := "./" + filepath.ToSlash(rel)
		if m := constraint.FindSubmatch(source); m == nil || !hasTag.Match(m[1]) || !containsAny(pkg, only) {
			return err
		}
		for _, m := range testFunction.FindAllSubmatch(source, -1) {
			if name := string(m[1]); name != "TestMain" {
				names, packages = append(names, name), append(packages, pkg)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no package whose path contains %q has tests with the build tag %s", only, tag)
	}
	first := len(args)
	for first > 0 && strings.HasPrefix(args[first-1], "./") {
		first--
	}
	var ordered []string
	for _, pkg := range append(slices.Clone(args[first:]), packages...) {
		if pkg = "./" + path.Clean(pkg); slices.Contains(packages, pkg) && !slices.Contains(ordered, pkg) {
			ordered = append(ordered, pkg)
		}
	}
	slices.Sort(names)
	run := "^(" + strings.Join(slices.Compact(names), "|") + ")$"
	tags := "-tags=" + tag
	if tag != helpers {
		tags += "," + helpers
	}
	return slices.Concat([]string{tags, "-run=" + run}, args[:first], ordered), nil
}
