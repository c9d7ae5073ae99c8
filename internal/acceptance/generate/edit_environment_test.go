//go:build unix

package generate

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// modules changes the requirements of the project to other modules in the module cache.
func (e *editedProject) modules() string {
	name, what := "project/go.mod", ""
	toggle := func(line string) {
		what = strings.TrimSpace(line)
		if strings.Contains(e.files[name], line) {
			e.files[name] = strings.Replace(e.files[name], line, "", 1)
		} else {
			e.files[name] += line
		}
	}
	switch e.IntN(10) {
	case 0, 1, 2:
		toggle(otherKubernetes)
	case 3:
		toggle("\nreplace example.org/unknown => ../local\n")
	case 4:
		toggle("// A comment.\n")
	case 5:
		toggle("\nreplace k8s.io/klog/v2 => ../gone\n")
	case 6:
		toggle("\nexclude k8s.io/api v0.30.0\n")
	case 7:
		name = "project/go.work"
		if _, ok := e.files[name]; ok {
			delete(e.files, name)
		} else {
			e.files[name] = "go 1.26.0\n\nuse (\n\t.\n\t../local\n)\n"
		}
		what = "go.work"
	case 8:
		name = "local/go.mod"
		toggle("// A comment.\n")
	default:
		name = "project/go.sum"
		lines := strings.SplitAfter(e.files[name], "\n")
		at := e.IntN(len(lines))
		what = "go.sum without " + lines[at]
		e.files[name] = strings.Join(slices.Delete(lines, at, at+1), "")
	}
	return what
}

// nest turns a folder of the project into a nested module, or reverts that.
func (e *editedProject) nest() string {
	name := []string{"project/internal/webhook", "project/api/port", "project/third"}[e.IntN(3)]
	if _, ok := e.files[name+"/go.mod"]; ok {
		delete(e.files, name+"/go.mod")
		delete(e.files, name+"/go.sum")
		return name + " removed"
	}
	e.files[name+"/go.mod"] = strings.ReplaceAll(strings.Replace(e.files["project/go.mod"], "module "+repo, "module "+repo+strings.TrimPrefix(name, "project"), 1), "../local", strings.Repeat("../", strings.Count(name, "/"))+"../local")
	e.files[name+"/go.sum"] = e.files["project/go.sum"]
	if strings.HasSuffix(name, "third") {
		e.files[name+"/wind.go"] = "// Package third has wind.\n// +groupName=third.example.org\n// +versionName=v1\n// +kubebuilder:object:generate=true\npackage third\n\nimport metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n// Wind blows.\n// +kubebuilder:object:root=true\ntype Wind struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n}\n"
	}
	return name
}

func (e *editedProject) environment() string {
	variable := []string{"GOFLAGS=-tags=x", "GOFLAGS=-mod=mod", "GOOS=windows", "GOARCH=arm64", "CGO_ENABLED=0", "GOEXPERIMENT=jsonv2", "GOWORK=off", "GOFLAGS=-mod=vendor"}[e.IntN(8)]
	if at := slices.Index(e.env, variable); at >= 0 {
		e.env = slices.Delete(e.env, at, at+1)
		return variable + " removed"
	}
	e.env = append(e.env, variable)
	return variable
}

// defaultArguments are the generator arguments of a scaffolded project.
var defaultArguments = map[string]string{
	"crd": "crd", "rbac": "rbac:roleName=manager-role", "webhook": "webhook", "object": "object:headerFile=hack/boilerplate.go.txt,year=2026",
	"paths": "paths=./...", "output": "output:crd:artifacts:config=config/crd/bases",
}

// otherArguments are other values of these arguments.
var otherArguments = [][2]string{
	{"crd", "crd:maxDescLen=20"}, {"crd", "crd:generateEmbeddedObjectMeta=true,allowDangerousTypes=true"}, {"crd", "crd:ignoreUnexportedFields=true"},
	{"crd", "crd:headerFile=hack/boilerplate.go.txt,year=2001"}, {"crd", "crd:maxDescLen=0,allowDangerousTypes=true"}, {"crd", "crd:omitToolVersion=true"},
	{"rbac", "rbac:roleName=other"}, {"rbac", "rbac:roleName=r,fileName=roles.yaml"}, {"object", "object"}, {"object", "object:headerFile=hack/boilerplate.go.txt,year=1999"},
	{"paths", "paths=./api/..."}, {"paths", "paths=./api/ship/v1;./internal/..."}, {"paths", "paths=" + repo + "/api/..."},
	{"output", "output:crd:dir=crds"}, {"output", "output:crd:stdout"}, {"output", "output:crd:none"},
	{"only", "rbac"}, {"only", "rbac"}, {"only", "crd"}, {"only", "object"}, {"only", "webhook"},
}

func (e *editedProject) changeArguments() string {
	for _, key := range []string{"crd", "rbac", "object", "paths", "output", "only"} {
		if e.args[key] != defaultArguments[key] && e.IntN(2) == 0 {
			e.args[key] = defaultArguments[key]
			return "default " + key
		}
	}
	a := otherArguments[e.IntN(len(otherArguments))]
	e.args[a[0]] = a[1]
	return a[1]
}

// arguments returns the arguments of operon or of controller-gen. controller-gen has no
// --only; instead, the other generators are left out.
func (e *editedProject) arguments(ours bool) []string {
	only := e.args["only"]
	var args []string
	for _, g := range []string{"crd", "object", "rbac", "webhook"} {
		if e.args[g] != "" && (ours || only == "" || only == g) {
			args = append(args, e.args[g])
		}
	}
	args = append(args, e.args["paths"])
	if ours || only == "" || only == "crd" {
		args = append(args, e.args["output"])
	}
	if ours && only != "" {
		args = append(args, "--only", only)
	}
	return args
}

func (e *editedProject) header() string {
	name := "project/hack/boilerplate.go.txt"
	if _, ok := e.files[name]; !ok {
		e.files[name] = e.start[name]
		return "restored"
	}
	if e.IntN(4) == 0 {
		e.drop(name)
		return "deleted"
	}
	e.files[name] = fmt.Sprintf("/*\nCopyright YEAR The harbor, %s.\n*/\n", e.word())
	return "edited"
}

// plurals changes the file from which the library for plural names reads exceptions.
func (e *editedProject) plurals() string {
	name := "project/inflections.json"
	if _, ok := e.files[name]; ok {
		delete(e.files, name)
		return "removed"
	}
	e.files[name] = fmt.Sprintf("{\"frigate\": \"frigate%s\"}\n", strings.ToLower(e.word()))
	return "changed"
}

// The following operations change files without changing a source.

func (e *editedProject) touch() string {
	names := e.names(func(string) bool { return true })
	name := names[e.IntN(len(names))]
	at := time.Now().Add(time.Duration(e.IntN(3)-1) * time.Hour)
	e.must(os.Chtimes(e.path(name), at, at))
	if e.IntN(2) == 0 { // another file with the same content
		e.must(os.Rename(e.path(name), e.path(name)+"~"))
		e.must(put(e.path(name), e.files[name]))
		e.must(os.Remove(e.path(name) + "~"))
	}
	return name
}

// damageOutput changes or removes generated files.
func (e *editedProject) damageOutput() string {
	names := slices.Sorted(maps.Keys(e.outputs()))
	if len(names) == 0 {
		return ""
	}
	name := names[e.IntN(len(names))]
	info, err := os.Stat(e.path(name))
	e.must(err)
	content, err := os.ReadFile(e.path(name))
	e.must(err)
	switch e.IntN(5) {
	case 0:
		e.must(os.Remove(e.path(name)))
		return name + " deleted"
	case 1:
		e.must(put(e.path(name), string(content)+"# more\n"))
		return name + " extended"
	case 2:
		e.must(os.RemoveAll(filepath.Dir(e.path(name))))
		for source, text := range e.files { // sources in the folder
			if path.Dir(source) == path.Dir(name) || strings.HasPrefix(source, path.Dir(name)+"/") {
				e.must(put(e.path(source), text))
			}
		}
		return path.Dir(name) + " removed"
	}
	// The size and the time stay the same. Imports and constraints are not changed, because
	// the go command itself relies on size and time there.
	from := max(0, bytes.Index(content, []byte("\nfunc ")))
	for at := from + e.IntN(len(content)-from); at < len(content); at++ {
		if content[at] != '\n' {
			content[at] ^= 1
			break
		}
	}
	e.must(put(e.path(name), string(content)))
	e.must(os.Chtimes(e.path(name), info.ModTime(), info.ModTime()))
	return name + " with one byte changed"
}

// sameSize returns a source with another letter in the comment of a field, which is part of
// the description of each kind with the field.
func (e *editedProject) sameSize() (name, content string) {
	letter := regexp.MustCompile(`(?m)^\t// [A-Z]\w*([a-z])\b`)
	name, at := e.find(letter)
	if name == "" {
		return "", ""
	}
	return name, e.files[name][:at[2]] + string(rune('a'+e.IntN(26))) + e.files[name][at[3]:]
}

// hide edits a source without changing its size and time.
func (e *editedProject) hide() string {
	name, content := e.sameSize()
	if name == "" {
		return ""
	}
	info, err := os.Stat(e.path(name))
	e.must(err)
	e.must(put(e.path(name), content))
	e.must(os.Chtimes(e.path(name), info.ModTime(), info.ModTime()))
	e.files[name] = content
	return name
}

// race edits a source while operon runs, without changing its size. The result of that run
// may be wrong; the next run must correct it.
func (e *editedProject) race() string {
	name, content := e.sameSize()
	if name == "" {
		return ""
	}
	pause := time.Duration(e.IntN(40)) * time.Millisecond
	cmd := exec.Command("operon", append([]string{"generate"}, e.arguments(true)...)...)
	cmd.Dir = filepath.Join(e.dir, "project")
	cmd.Env = append(append(os.Environ(), "GOPROXY=off", "SOURCE_DATE_EPOCH=1767225600", "OPERON_CACHE="+e.cache), e.env...)
	e.must(cmd.Start())
	time.Sleep(pause)
	e.files[name] = content
	e.must(put(e.path(name), content))
	_ = cmd.Wait() // it may fail
	return fmt.Sprint(name, " after ", pause)
}
