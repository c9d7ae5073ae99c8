package kustomize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/konfig"
)

// explain returns one line for an error of kustomize, which wraps its errors once per
// folder and tries each path as a file and as a folder.
func (v *view) explain(cause error) error {
	var texts []string // one file once
	for _, name := range v.read {
		if !slices.Contains(texts, name) {
			texts = append(texts, name)
		}
	}
	resources := v.resources(texts)
	malformed := strings.Contains(cause.Error(), "MalformedYAMLError") // whatever the name of the file
	for _, name := range texts {
		isResource := slices.Contains(resources, name)
		if content, err := v.FileSystem.ReadFile(name); err == nil && (malformed && isResource || isYAML(name)) {
			if err := v.broken(name, content, cause, isResource); err != nil {
				return err
			}
		}
	}
	for _, name := range texts {
		if err := v.missing(name); err != nil {
			return err
		}
	}
	if len(texts) == 0 {
		name := konfig.DefaultKustomizationFileName()
		return fault.Usage("name a folder with a "+name, "%s has no %s", v.rel(v.dir), name)
	}
	return v.shorten(cause)
}

// resources returns the files that kustomizations list under resources.
func (v *view) resources(read []string) []string {
	var all []string
	for _, name := range read {
		if isKustomization(name) {
			for _, file := range jsonvalue.Strings(v.kustomization(filepath.Dir(name)), "resources") {
				all = append(all, filepath.Join(filepath.Dir(name), file))
			}
		}
	}
	return all
}

// broken returns the first mistake in a file: of its syntax, a key that occurs twice, or what an object of a resource lacks
// if that is the cause. kustomize does not name the file.
func (v *view) broken(name string, content []byte, cause error, isResource bool) error {
	if err := yamledit.CheckSyntax(v.rel(name), content); err != nil {
		return err
	}
	lacking := ""
	for _, field := range []string{"kind", "metadata.name"} {
		if strings.Contains(cause.Error(), "missing "+field+" in object") && isResource {
			lacking = field
		}
	}
	for dec := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var node yaml.Node
		if dec.Decode(&node) != nil {
			return nil
		}
		var doc any
		if types := new(yaml.TypeError); errors.As(node.Decode(&doc), &types) {
			line, text, _ := strings.Cut(strings.TrimPrefix(types.Errors[0], "line "), ": ")
			return fault.In(v.rel(name)+":"+line, fault.Usage("correct the YAML first", "%s", text))
		}
		if object, is := doc.(map[string]any); is && lacking != "" && jsonvalue.At(object, strings.Split(lacking, ".")...) == nil {
			return fault.In(fmt.Sprintf("%s:%d", v.rel(name), node.Content[0].Line), fault.Usage("add it, or remove the file from the kustomization", "the object has no %s", lacking))
		}
	}
}

func isYAML(name string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name)) || isKustomization(name)
}

func isKustomization(name string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(name))
}

// missing returns an error if a kustomization lists a path that does not exist, or a folder
// without a kustomization.
func (v *view) missing(name string) error {
	if !isKustomization(name) {
		return nil
	}
	content, err := v.FileSystem.ReadFile(name)
	if err != nil {
		return nil
	}
	var doc map[string]any
	if yaml.Unmarshal(content, &doc) != nil {
		return nil
	}
	for _, r := range references(doc) {
		target := filepath.Join(filepath.Dir(name), r.value)
		switch {
		case filepath.IsAbs(r.value):
			return fault.In(v.rel(name), fault.Usage("copy the file into the folder of the kustomization", "%s has the absolute path %s, which kustomize refuses", r.key, r.value))
		case !v.Exists(target):
			hint := "remove it from " + r.key + ", or restore the file"
			if filepath.Base(filepath.Dir(target)) == "bases" {
				hint = "run operon generate, which writes CRDs, or remove it from " + r.key
			}
			return fault.In(v.rel(name), fault.Usage(hint, "%s has %s, which does not exist", r.key, r.value))
		case v.IsDir(target) && !hasKustomization(target, v.Exists):
			return fault.In(v.rel(name), fault.Usage("list the files of the folder, or add a kustomization there",
				"%s has the folder %s, which has no %s", r.key, r.value, konfig.DefaultKustomizationFileName()))
		}
	}
	return nil
}

// HasKustomization reports whether a folder has a kustomization.
func HasKustomization(dir string) bool {
	return hasKustomization(dir, func(name string) bool {
		_, err := os.Stat(name)
		return err == nil
	})
}

func hasKustomization(dir string, exists func(string) bool) bool {
	return slices.ContainsFunc(konfig.RecognizedKustomizationFileNames(), func(name string) bool { return exists(filepath.Join(dir, name)) })
}

// place matches the folder in an error of kustomize; the last match is the innermost one.
var place = lazyregexp.New(`(?:recursed accumulation of path|couldn't make target for path|accumulating resources from|Failed to read kustomization file under) '?([^':\n]+)'?:\s*`)

// shorten keeps the innermost error, and the kustomization that it is about.
func (v *view) shorten(cause error) error {
	text, dir := cause.Error(), v.dir
	_, twice, found := strings.Cut(text, "already registered id: ")
	if all := place().FindAllStringSubmatchIndex(text, -1); all != nil {
		last := all[len(all)-1]
		if named := text[last[2]:last[3]]; filepath.IsAbs(named) {
			dir = named
		}
		text = text[last[1]:]
	}
	// kustomize tried the path as a file and as a folder; one of the two errors is noise.
	text, _, _ = strings.Cut(text, "': must build at directory: ")
	if _, asFolder, ok := strings.Cut(text, "must resolve to a file': "); ok {
		text = asFolder
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, v.root+string(filepath.Separator), ""), "\n", " ")
	hint := "correct the field or the file that the message names; fields: https://kubectl.docs.kubernetes.io/references/kustomize"
	switch {
	case strings.Contains(text, "produces ID conflict: "):
		text, hint = conflict(cause.Error()), "rename one of them, or move it to a kustomization without namespace"
	case found:
		text, hint = v.registered(twice), "remove one of the files from resources, or rename the object"
	case strings.HasPrefix(text, "cycle detected"):
		hint = "remove the folder from resources of the kustomization that it contains"
	case strings.HasSuffix(text, "kustomization.yaml is empty"):
		hint = "list files in resources, or remove the folder from the kustomization that lists it"
	case strings.Contains(text, "is not in or below"):
		hint = "move the file into the folder, or list the folder of a kustomization that has the file"
	default:
		if patch := v.failedPatch(dir, cause); patch != "" {
			text, hint = patch+text, "correct the patch or the object, or limit the target of the patch with name"
		}
	}
	return fault.In(v.rel(filepath.Join(dir, konfig.DefaultKustomizationFileName())), fault.Failed(hint, "%s", strings.TrimSpace(text)))
}

// registered says which object is there twice, and in which of the files that kustomize has read. An ID of kustomize has
// the form Kind.version.group/name.namespace.
func (v *view) registered(id string) string {
	id, _, _ = strings.Cut(id, "'")
	gvk, name, _ := strings.Cut(strings.TrimSpace(id), "/")
	kind, _, _ := strings.Cut(gvk, ".")
	namespace := ""
	if dot := strings.LastIndex(name, "."); dot > 0 {
		name, namespace = name[:dot], strings.TrimPrefix(name[dot+1:], "[noNs]")
	}
	var files []string
	for _, file := range v.resources(v.read) {
		content, _ := v.FileSystem.ReadFile(file)
		for dec := yaml.NewDecoder(bytes.NewReader(content)); ; {
			var doc map[string]any
			if dec.Decode(&doc) != nil {
				break
			}
			same := doc["kind"] == kind && jsonvalue.String(doc, "metadata", "name") == name &&
				(namespace == "" || jsonvalue.String(doc, "metadata", "namespace") == namespace)
			if named := v.rel(file); same && !slices.Contains(files, named) {
				files = append(files, named)
			}
		}
	}
	text := "resources has the same object twice: " + kind + " " + name
	if len(files) > 0 {
		text += " in " + strings.Join(files, " and ")
	}
	return text
}

// conflict says which objects have one name after kustomize has set the namespace. kustomize prints them in JSON.
func conflict(text string) string {
	_, objects, _ := strings.Cut(text, "produces ID conflict: [")
	var all []string
	for dec := json.NewDecoder(strings.NewReader(objects)); ; {
		var o unstructured.Unstructured
		if dec.Decode(&o.Object) != nil {
			break
		}
		one := o.GetKind() + " " + o.GetName()
		if namespaces := strings.Split(o.GetAnnotations()["internal.config.kubernetes.io/previousNamespaces"], ","); namespaces[0] != "" {
			one += " of the namespace " + namespaces[0]
		}
		if origin := o.GetAnnotations()["config.kubernetes.io/origin"]; strings.HasPrefix(origin, "path: ") {
			file, _, _ := strings.Cut(strings.TrimPrefix(origin, "path: "), "\n")
			one += " in " + file
		}
		all = append(all, one)
	}
	return "namespace puts several objects of one name into one namespace: " + strings.Join(all, ", ")
}
