package folders

import (
	"bytes"
	"go/build"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/mod/module"
)

// importAll asks go/build for the packages in folders.
func (l *Lister) importAll(dirs []string) ([]*build.Package, []error) {
	ctx := l.Context
	ctx.GOROOT, ctx.GOPATH, ctx.Compiler, ctx.UseAllFiles = "", "", "gc", false
	ctx.JoinPath, ctx.SplitPathList, ctx.IsAbsPath = filepath.Join, filepath.SplitList, filepath.IsAbs
	ctx.HasSubdir = func(string, string) (string, bool) { return "", false }
	ctx.IsDir, ctx.ReadDir = l.Files.HasDir, l.Files.ReadDir
	ctx.OpenFile = func(name string) (io.ReadCloser, error) {
		content, err := l.Files.Read(name)
		return io.NopCloser(bytes.NewReader(content)), err
	}
	pkgs, errs := make([]*build.Package, len(dirs)), make([]error, len(dirs))
	var group sync.WaitGroup
	for part := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := part; i < len(dirs); i += runtime.GOMAXPROCS(0) {
				pkgs[i], errs[i] = ctx.ImportDir(dirs[i], 0)
			}
		})
	}
	group.Wait()
	return pkgs, errs
}

// unusual returns why the go command may list a package in another way, or report an error. It
// is "" if the package is usual.
func (l *Lister) unusual(dir string, p *build.Package) string {
	for _, tag := range p.AllTags {
		// The toolchain defines such tags.
		if strings.HasPrefix(tag, "goexperiment.") || strings.HasPrefix(tag, l.Context.GOARCH+".") || tag == "boringcrypto" {
			return "depends on the tag " + tag
		}
	}
	switch {
	case len(p.CgoFiles) > 0:
		return "uses cgo"
	case len(p.CFiles)+len(p.CXXFiles)+len(p.MFiles)+len(p.HFiles)+len(p.FFiles)+len(p.SFiles)+len(p.SwigFiles)+len(p.SwigCXXFiles)+
		len(p.SysoFiles)+len(p.IgnoredOtherFiles) > 0:
		return "has sources in other languages"
	case slices.ContainsFunc(p.Directives, func(d build.Directive) bool { return strings.HasPrefix(d.Text, "//go:debug") }):
		return "has go:debug directives"
	case strings.ContainsAny(dir, "\r\n") || !safe(filepath.Base(dir)):
		return "is in a folder with an unusual name"
	}
	entries, err := l.Files.ReadDir(dir)
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	folded := map[string]bool{}
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if e.IsDir() || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		if folded[name] {
			return "has files whose names differ only in case"
		}
		folded[name] = true
		if strings.HasSuffix(name, ".go") && !safe(name) {
			return "has a file with an unusual name"
		}
	}
	for _, pattern := range p.EmbedPatterns {
		if !l.embeds(dir, pattern) {
			return "embeds " + pattern
		}
	}
	return ""
}

// safe reports whether a name cannot be mistaken for a flag, by the rule of the go command.
func safe(name string) bool {
	c := name[0]
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c >= utf8.RuneSelf
}

// embeds reports whether a pattern of go:embed is the path of a regular file. Such a pattern is
// always right, if the folders of the path are usual.
func (l *Lister) embeds(dir, pattern string) bool {
	if strings.ContainsAny(pattern, `*?[]\:`) || module.CheckFilePath(pattern) != nil {
		return false
	}
	elements := strings.Split(pattern, "/")
	for i, name := range elements {
		entries, err := l.Files.ReadDir(dir)
		if err != nil || name == "vendor" || strings.HasPrefix(name, ".") {
			return false
		}
		regular := i == len(elements)-1
		found := false
		for _, e := range entries {
			switch {
			case e.Name() == name:
				found = regular && e.Mode().IsRegular() || !regular && e.Mode().Type() == fs.ModeDir
			case e.Name() == "go.mod" && i > 0:
				return false // another module
			}
		}
		if !found {
			return false
		}
		dir = filepath.Join(dir, name)
	}
	return true
}
