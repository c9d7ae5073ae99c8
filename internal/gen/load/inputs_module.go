package load

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/goenv"
	"golang.org/x/mod/modfile"
)

// workspace adds the module at root or its workspace, and the folders that replace other
// modules. work is the value of GOWORK.
func (in *inputs) workspace(root, work string) {
	in.module(root)
	switch work {
	case "off":
		return
	case "":
	default:
		dir := filepath.Dir(work)
		in.add(work, work+".sum")
		in.vendor(dir)
		file, ok := readModFile(in.project, work, modfile.ParseWork)
		if !ok {
			in.failed = true
			return
		}
		for _, use := range file.Use {
			in.module(overlay.Join(dir, use.Path))
		}
		in.replaced(dir, file.Replace)
	}
	for dir := root; ; dir = filepath.Dir(dir) { // the go command would use a nearer go.work
		in.add(filepath.Join(dir, "go.work"))
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// readModFile reads a go.mod or a go.work, as it will be after the plan is applied.
func readModFile[F any](
	project *overlay.Project, name string, how func(string, []byte, modfile.VersionFixer) (*F, error),
) (file *F, ok bool) {
	text, err := project.Read(name)
	if err != nil {
		return nil, false
	}
	file, err = how(name, text, nil)
	return file, err == nil
}

// module adds the files of a main module.
func (in *inputs) module(dir string) {
	if _, known := in.modules[dir]; known {
		return
	}
	in.modules[dir] = false
	name := filepath.Join(dir, "go.mod")
	in.add(name, filepath.Join(dir, "go.sum"))
	in.vendor(dir)
	if file, ok := readModFile(in.project, name, modfile.Parse); ok {
		in.replaced(dir, file.Replace)
	} else {
		in.failed = true
	}
}

// vendor adds the folder vendor in dir and its list of modules. The go command uses the
// folder with or without the list.
func (in *inputs) vendor(dir string) {
	folder := filepath.Join(dir, "vendor")
	in.add(folder, filepath.Join(folder, "modules.txt"))
}

// replaced adds the folders that replace modules.
func (in *inputs) replaced(dir string, list []*modfile.Replace) {
	for _, r := range list {
		if r.New.Version == "" {
			folder := overlay.Join(dir, r.New.Path)
			in.add(filepath.Join(folder, "go.mod"))
			if _, known := in.modules[folder]; !known {
				in.modules[folder] = false
			}
		}
	}
}

// source adds the folder of a package. Sources in GOROOT and in the module cache do not
// change. In other modules, any folder may become a package or a module, and other files
// may be embedded or cause an error.
func (in *inputs) source(dir string, s Settings) {
	const separator = string(filepath.Separator)
	if strings.HasPrefix(dir, s.Root+separator) {
		return // the file VERSION identifies the sources
	}
	if rest, ok := strings.CutPrefix(dir, s.ModCache+separator); ok {
		before, after, _ := strings.Cut(rest, "@")
		version, _, _ := strings.Cut(after, separator)
		in.add(s.ModCache + separator + before + "@" + version)
		return
	}
	module := dir
	for ; ; module = filepath.Dir(module) {
		if _, ok := in.modules[module]; ok {
			break
		}
		if module == filepath.Dir(module) {
			in.failed = true
			return
		}
	}
	if !in.modules[module] {
		in.modules[module] = true
		in.walk(module, false)
	}
	files, ok := in.walked[dir]
	in.failed = in.failed || !ok // the folder was reached by a symbolic link
	in.add(files...)
}

// walk adds the folders below dir and their Go files. ignored means that patterns do not
// match the folder.
func (in *inputs) walk(dir string, ignored bool) {
	in.add(dir)
	entries, err := os.ReadDir(dir)
	in.failed = in.failed || err != nil
	var files []string
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(dir, name)
		switch {
		case !e.IsDir():
			files = append(files, path)
			if !ignored && filepath.Ext(name) == ".go" {
				in.add(path)
			}
		case name != ".git" && len(in.paths) <= maxInputs:
			in.walk(path, ignored || goenv.Ignores(name))
		}
	}
	in.walked[dir] = files
}
