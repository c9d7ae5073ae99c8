// Package kustomize builds kustomizations with kustomize's own library. It reads the files
// on this machine, and fetches and runs nothing.
package kustomize

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/yaml"
)

// Options change how a kustomization is built.
type Options struct {
	// AnyPath allows kustomizations to load files from outside of their folders.
	AnyPath bool
	// Image replaces the image "controller" of the manager: name, name:tag or name@digest.
	// Without a tag, it is "latest". No file changes. It is an error if no container uses
	// that image.
	Image string
	// Quiet prints no warnings about deprecated fields.
	Quiet bool
}

// Object is an object that a kustomization results in.
type Object struct {
	*unstructured.Unstructured

	// YAML is the object as kustomize prints it.
	YAML []byte
	// File is the file that the object is from, or the kustomization that generates it. It
	// is relative to the root of the build, or absolute if it is outside. It is empty if
	// kustomize does not know the file.
	File string

	id resid.ResId
}

// Result has the objects of a kustomization in kustomize's order.
type Result struct {
	Objects []Object
}

// YAML returns the output of "kustomize build".
func (r *Result) YAML() []byte {
	var documents [][]byte
	for _, o := range r.Objects {
		documents = append(documents, o.YAML)
	}
	return bytes.Join(documents, []byte("---\n"))
}

// Files returns each object as a file, with the names that "kustomize build --output FOLDER"
// gives them. The names start with the namespace if the objects have several. It is an error if two objects need one
// file: the names of files have no capitals.
func (r *Result) Files() (map[string][]byte, error) {
	namespaces := map[string]bool{}
	for _, o := range r.Objects {
		if !o.id.IsClusterScoped() {
			namespaces[o.id.EffectiveNamespace()] = true
		}
	}
	files, names := map[string][]byte{}, map[string]string{}
	for _, o := range r.Objects {
		name := o.id.StringWoEmptyField() + "_" + o.GetName() + ".yaml"
		if !o.id.IsClusterScoped() && len(namespaces) > 1 {
			name = o.id.EffectiveNamespace() + "_" + name
		}
		name = strings.ToLower(name)
		if other, taken := names[name]; taken {
			return nil, fault.Usage("write all objects to one file: --output FILE.yaml", "%s %s and %s need the same file %s", o.GetKind(), other, o.GetName(), name)
		}
		files[name], names[name] = o.YAML, o.GetName()
	}
	return files, nil
}

// Build builds the kustomization in dir. A relative dir is relative to the folder root, which
// is absolute; errors and Object.File name files relative to it. Build is not safe for
// concurrent use, because the library keeps the OpenAPI schema in global variables.
func Build(root, dir string, o Options) (*Result, error) {
	if isRemote(dir) {
		return nil, fault.Usage("clone it, and name the folder of the clone", "operon fetches nothing, and %s is remote", dir)
	}
	abs := dir
	if !filepath.IsAbs(dir) {
		abs = filepath.Join(root, dir)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return nil, fault.Usage("name a folder with a kustomization.yaml", "%s does not exist", dir)
	case !info.IsDir():
		return nil, fault.Usage("name the folder of the kustomization", "%s is not a folder", dir)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	if resolved, err := filepath.EvalSymlinks(root); err == nil {
		root = resolved
	}
	return build(&view{FileSystem: filesys.MakeFsOnDisk(), root: root, dir: abs}, o)
}

// BuildFiles is like Build for files in memory, by their slash-separated paths, with a relative dir.
func BuildFiles(files map[string][]byte, dir string, o Options) (*Result, error) {
	const root = "/project"
	memory := filesys.MakeFsInMemory()
	for name, content := range files {
		// The library has no name with a space or @ in memory. kustomize reports such a file if it needs it.
		_ = memory.WriteFile(root+"/"+name, content)
	}
	if !memory.IsDir(root + "/" + dir) {
		return nil, fault.Usage("name a folder with a kustomization.yaml", "%s does not exist", dir)
	}
	return build(&view{FileSystem: memory, root: root, dir: root + "/" + dir}, o)
}

// build builds what a view shows, which has no image yet.
func build(v *view, o Options) (*Result, error) {
	if o.Image != "" && !strings.Contains(o.Image, "@") && strings.LastIndex(o.Image, ":") <= strings.LastIndex(o.Image, "/") {
		o.Image += ":latest" // a colon before the last slash starts a port
	}
	v.image, v.quiet = o.Image, o.Quiet
	objects, err := run(v, o)
	if err == nil && o.Image != "" && !v.imageSet {
		// No kustomization replaces the image, so the one in dir does.
		v.imageInDir = true
		objects, err = run(v, o)
	}
	if err != nil {
		return nil, err
	}
	if o.Image != "" && !uses(objects, o.Image) {
		return nil, fault.Usage("use the image controller in the Deployment, or set its image there",
			"no container of %s uses the image controller, which %s would replace", v.rel(v.dir), o.Image)
	}
	return &Result{objects}, nil
}

// run builds what v shows.
func run(v *view, o Options) ([]Object, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionUnspecified // as the program kustomize
	if o.AnyPath {
		options.LoadRestrictions = types.LoadRestrictionsNone
	}
	m, err := krusty.MakeKustomizer(options).Run(v, v.dir)
	if v.refused != nil { // kustomize replaces the errors of a file system by its own
		return nil, v.refused
	}
	if err != nil {
		return nil, v.explain(err)
	}
	return v.objects(m)
}

// objects converts resources, without the annotation for their files that v adds.
func (v *view) objects(m resmap.ResMap) ([]Object, error) {
	files := make([]string, 0, m.Size())
	for _, r := range m.Resources() {
		files = append(files, v.origin(r))
	}
	if v.originsAdded {
		if err := m.RemoveOriginAnnotations(); err != nil {
			return nil, err
		}
	}
	objects := make([]Object, 0, m.Size())
	for i, r := range m.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			return nil, v.explain(err) // such as a key that occurs twice
		}
		asJSON, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil, err
		}
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(asJSON, &u.Object); err != nil {
			return nil, err
		}
		objects = append(objects, Object{Unstructured: u, YAML: text, File: files[i], id: r.CurId()})
	}
	return objects, nil
}

// origin returns the file that a resource is from, or "".
func (v *view) origin(r *resource.Resource) string {
	origin, err := r.GetOrigin()
	if err != nil || origin == nil {
		return ""
	}
	file := origin.Path
	if file == "" {
		file = origin.ConfiguredIn
	}
	if file == "" {
		return ""
	}
	return v.rel(filepath.Join(v.dir, file))
}

// uses reports whether a field "image" of an object has the value.
func uses(objects []Object, image string) bool {
	for _, o := range objects {
		if hasImage(o.Object, image) {
			return true
		}
	}
	return false
}

func hasImage(value any, image string) bool {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if key == "image" && field == image || hasImage(field, image) {
				return true
			}
		}
	case []any:
		for _, item := range value {
			if hasImage(item, image) {
				return true
			}
		}
	}
	return false
}
