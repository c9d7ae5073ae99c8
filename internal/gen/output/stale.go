package output

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/controllertools"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/scaffold"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/yaml"
)

// Rules of warnings about stale files.
const (
	ruleStaleRemoved    = "stale-removed"    // operon wrote the file, and the plan deletes it
	ruleStaleEdited     = "stale-edited"     // operon wrote the file and the user edited it, so it stays
	ruleStaleUnrecorded = "stale-unrecorded" // another tool wrote the file, so it stays
	ruleStaleRole       = "stale-role"       // no marker requires the role, which stays
	ruleGroupMissing    = "group-missing"    // a package with API types has no group
	ruleListedMissing   = "listed-missing"   // a kustomization lists a missing CRD
	ruleListedGone      = "listed-gone"      // the plugin kustomize's, which may have reported the line
	ruleFolderHidden    = "folder-hidden"    // a folder with API types that the paths do not reach
)

// removeStale removes files that earlier runs generated and this run did not. It warns
// about the files that it must not remove. PROJECT can keep some. It considers only generators that ran over
// the default paths and write to the default folder. What one job makes is not stale for another.
//
// What the paths do not reach is not stale: the types of a folder behind a symbolic link still
// need their deepcopy methods, and may have CRDs.
//
// Roles are never removed. If the project has no RBAC marker, the generator writes no
// role, but config/rbac/kustomization.yaml still lists the file. A missing file would
// break the build, while a review can find outdated rules. controller-gen also keeps
// the file.
func removeStale(runs []Run, decisions request.Decisions, src *overlay.Project, p *scaffold.Plan) error {
	made, folders := map[string]bool{}, []string(nil)
	groupless := ""
	for _, run := range runs {
		if !run.Matched {
			return nil // without packages, nothing is known about stale files
		}
		run.made(func(generator, name string) {
			made[name] = true
			if groupless == "" && generator == "crd" && strings.HasPrefix(path.Base(name), "_") {
				groupless = name
			}
		})
		folders = append(folders, run.Folders...)
	}
	if groupless != "" {
		// The kinds exist without their group, so no file is stale.
		p.Warn(scaffold.Warning{File: groupless, Rule: ruleGroupMissing,
			Message: "this CRD has no group: the package of its type lacks the comment // +groupName=<group>, which belongs in groupversion_info.go"})
		return nil
	}
	warnListed(runs, src, p)
	hidden := warnHidden(runs, folders, src, p)
	recorded := map[string]bool{}
	for _, r := range p.Recorded() {
		recorded[r.Path] = true
		kept := decisions.For(r.Path).Word == request.Keep
		if made[r.Path] || kept || !mayWrite(runs, r, src) || !p.Exists(r.Path) { // in this order: Exists reads the file
			continue
		}
		folder := path.Dir(r.Path)
		reached := len(hidden) == 0 || r.Generator == "rbac"
		if r.Generator == "object" {
			reached = !slices.Contains(hidden, folder) && !made[path.Join(linked(folder, src), path.Base(r.Path))]
		}
		if !reached {
			continue
		}
		if err := removeRecorded(r, p); err != nil {
			return err
		}
	}
	return warnUnrecorded(runs, func(name string) bool { return made[name] || recorded[name] }, src, p)
}

// removeRecorded removes a stale file that operon wrote, unless it is a role or the user edited it, and
// warns about it.
func removeRecorded(r scaffold.Recorded, p *scaffold.Plan) error {
	unchanged := p.Unchanged(r.Path)
	switch {
	case r.Generator == "rbac" && unchanged:
		p.Warn(scaffold.Warning{File: r.Path, Rule: ruleStaleRole,
			Message: "no marker +kubebuilder:rbac requires these rules any more; remove what the manager does not need"})
		return nil
	case r.Generator == "rbac": // the user maintains it
		return nil
	case !unchanged:
		p.Warn(scaffold.Warning{File: r.Path, Rule: ruleStaleEdited,
			Message: "nothing generates this file any more; it was edited, so it stays" + listedIn(p, r.Path)})
		return nil
	}
	listed := listedIn(p, r.Path)
	if err := p.Remove(r.Path); err != nil {
		return err
	}
	p.Warn(scaffold.Warning{File: r.Path, Rule: ruleStaleRemoved,
		Message: "nothing generates this file any more" + listed})
	return nil
}

// mayWrite reports whether one of the jobs would write a file if it still had a reason. An
// earlier run may have written the file to another folder.
func mayWrite(runs []Run, r scaffold.Recorded, src *overlay.Project) bool {
	return slices.ContainsFunc(runs, func(run Run) bool {
		if !slices.Contains(run.Job.Complete, r.Generator) {
			return false
		}
		folder, ok := configFolder(run.Job, r.Generator, src)
		return !ok || path.Dir(r.Path) == folder
	})
}

// warnHidden returns the folders with API types that the paths do not reach, and warns about
// them.
func warnHidden(runs []Run, reached []string, src *overlay.Project, p *scaffold.Plan) []string {
	if !slices.ContainsFunc(runs, func(r Run) bool { return len(r.Job.Complete) > 0 }) {
		return nil
	}
	folders := slices.Clone(runs[0].Job.APIFolders)
	for _, r := range p.Recorded() {
		if r.Generator == "object" {
			folders = append(folders, path.Dir(r.Path))
		}
	}
	var paths []string
	for _, r := range runs {
		paths = append(paths, r.Job.Paths...)
	}
	slices.Sort(folders)
	return slices.DeleteFunc(slices.Compact(folders), func(folder string) bool {
		if slices.Contains(reached, folder) || slices.Contains(reached, linked(folder, src)) {
			return true
		}
		names, err := p.Files(folder)
		if err == nil && !slices.ContainsFunc(names, isSource) {
			return true
		}
		p.Warn(scaffold.Warning{File: folder, Rule: ruleFolderHidden, Message: "nothing is generated for this folder: " +
			strings.Join(paths, " ") + " does not reach it (paths do not follow symbolic links); what was generated stays"})
		return false
	})
}

// isSource reports whether a file of a package may declare API types.
func isSource(name string) bool {
	return path.Ext(name) == ".go" && name != request.DeepcopyFile && !strings.HasSuffix(name, "_test.go")
}

// linked returns the folder of the project to which symbolic links in the path of a folder
// lead, or folder if there is none.
func linked(folder string, src *overlay.Project) string {
	root, err := filepath.EvalSymlinks(src.Dir)
	if err != nil {
		return folder
	}
	target, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(folder)))
	if err != nil {
		return folder
	}
	if rel, ok := overlay.Rel(root, target); ok {
		return rel
	}
	return folder
}

// signs are texts that identify generated files. Users may have other files with the
// same names.
var signs = map[string]string{
	"crd":     controllertools.AnnotationLine,
	"webhook": "WebhookConfiguration\nmetadata:\n  name: ",
	"object":  "\n// Code generated by controller-gen. DO NOT EDIT.\n",
}

// warnUnrecorded warns about stale files that another tool generated.
func warnUnrecorded(runs []Run, ours func(string) bool, src *overlay.Project, p *scaffold.Plan) error {
	for _, generator := range []string{"crd", "webhook", "object"} {
		names, err := outputNames(runs, generator, src)
		if err != nil {
			return err
		}
		for _, name := range names {
			if ours(name) || !p.Exists(name) {
				continue
			}
			content, err := p.Read(name)
			if err != nil || !bytes.Contains(content, []byte(signs[generator])) || !mayBeStale(generator, name, content, runs) {
				continue
			}
			p.Warn(scaffold.Warning{File: name, Rule: ruleStaleUnrecorded,
				Message: "nothing generates this file any more; operon did not write it, so it stays" + listedIn(p, name)})
		}
	}
	return nil
}

// webhookFiles are the names of the files that the generator of webhooks writes: with the default header it is one file.
const webhookFiles = "manifests"

// mayBeStale reports whether a generator of the project may have written a file: a patch of a webhook configuration has
// another name, and a CRD whose kind PROJECT does not have is a copy from another project.
func mayBeStale(generator, name string, content []byte, runs []Run) bool {
	switch generator {
	case "webhook":
		return strings.HasPrefix(path.Base(name), webhookFiles)
	case "crd":
		var crd apiextensionsv1.CustomResourceDefinition
		return yaml.Unmarshal(content, &crd) == nil && slices.ContainsFunc(runs, func(r Run) bool {
			return slices.Contains(r.Job.Kinds, crd.Spec.Names.Kind+"."+crd.Spec.Group)
		})
	}
	return true
}

// outputNames returns the paths of the files that earlier runs of a generator may have
// written, without duplicates.
func outputNames(runs []Run, generator string, src *overlay.Project) ([]string, error) {
	var names []string
	for _, r := range runs {
		if !slices.Contains(r.Job.Complete, generator) {
			continue
		}
		if generator == "object" {
			for _, folder := range r.Folders { // whose entries are inputs of the run
				if _, err := os.Lstat(filepath.Join(src.Dir, filepath.FromSlash(folder), request.DeepcopyFile)); err == nil {
					names = append(names, path.Join(folder, request.DeepcopyFile))
				}
			}
			continue
		}
		folder, ok := configFolder(r.Job, generator, src)
		if !ok {
			continue
		}
		entries, err := os.ReadDir(filepath.Join(src.Dir, filepath.FromSlash(folder)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if !e.IsDir() && path.Ext(e.Name()) == ".yaml" {
				names = append(names, path.Join(folder, e.Name()))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// configFolder returns the folder to which a generator writes manifests. ok is false if
// the folder is outside the project, or if the generator writes code.
func configFolder(j *request.Job, name string, src *overlay.Project) (folder string, ok bool) {
	i := slices.IndexFunc(j.Generators, func(g request.Generator) bool { return g.Name == name })
	if i < 0 || name == "object" || name == request.ApplyConfigurations {
		return "", false
	}
	switch rule := j.Generators[i].Rule.(type) {
	case genall.OutputArtifacts:
		folder = string(rule.Config)
	case genall.OutputToDirectory:
		folder = string(rule)
	default:
		return "", false
	}
	return overlay.Rel(src.Dir, filepath.FromSlash(folder))
}
