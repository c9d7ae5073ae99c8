package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// Rules of the warnings about files that nothing generates any more.
const (
	ruleStaleRemoved    = "stale-removed"    // operon wrote it; the plan deletes it
	ruleStaleEdited     = "stale-edited"     // operon wrote it, somebody edited it; kept
	ruleStaleUnrecorded = "stale-unrecorded" // another tool wrote it; kept
	ruleGroupMissing    = "group-missing"    // a package of types without a group
)

// removeStale removes the files that earlier runs generated and this one did
// not, and warns about those it must not remove. Only generators that ran over
// the default paths into the default place are judged.
//
// A role is never stale: without any RBAC marker the generator writes nothing,
// but config/rbac/kustomization.yaml needs the file, and the old rules are
// better seen in a review than replaced by a build that fails. controller-gen
// leaves it alone too.
func removeStale(j *job, outputs []output, src *sources, p *scaffold.Plan) error {
	made := map[string]bool{}
	for _, o := range outputs {
		made[o.path] = true
		if o.generator == "crd" && strings.HasPrefix(path.Base(o.path), "_") {
			// The kinds are still there, only their group is gone: nothing is stale.
			p.Warn(scaffold.Warning{File: o.path, Rule: ruleGroupMissing,
				Message: "this CRD has no group: a package of types lacks the comment // +groupName=<group>, which stands in groupversion_info.go"})
			return nil
		}
	}
	recorded := map[string]bool{}
	for _, r := range p.Recorded() {
		recorded[r.Path] = true
		if made[r.Path] || r.Generator == "rbac" || !slices.Contains(j.whole, r.Generator) || !p.Exists(r.Path) {
			continue
		}
		if folder, ok := j.configFolder(r.Generator, src); ok && path.Dir(r.Path) != folder {
			continue // somebody asked for it to be written elsewhere
		}
		listed := listedIn(p, r.Path)
		if !r.Intact {
			p.Warn(scaffold.Warning{File: r.Path, Rule: ruleStaleEdited,
				Message: "nothing generates this file any more; it was edited by hand, so it stays" + listed})
			continue
		}
		if err := p.Remove(r.Path); err != nil {
			return err
		}
		p.Warn(scaffold.Warning{File: r.Path, Rule: ruleStaleRemoved,
			Message: "nothing generates this file any more" + listed})
	}
	return warnUnrecorded(j, func(name string) bool { return made[name] || recorded[name] }, src, p)
}

// warnUnrecorded reports CRDs in the output folder that controller-gen or a
// project's former tool generated, and that no kind stands behind now.
func warnUnrecorded(j *job, ours func(string) bool, src *sources, p *scaffold.Plan) error {
	if !slices.Contains(j.whole, "crd") {
		return nil
	}
	folder, ok := j.configFolder("crd", src)
	if !ok {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(src.dir, filepath.FromSlash(folder)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if e.IsDir() || path.Ext(name) != ".yaml" || ours(name) {
			continue
		}
		content, err := p.Read(name)
		if err != nil || !bytes.Contains(content, []byte("\n"+versionAnnotation)) {
			continue // removed by the plan, or not a generated CRD
		}
		p.Warn(scaffold.Warning{File: name, Rule: ruleStaleUnrecorded,
			Message: "no type generates this CRD any more; operon did not write it, so it stays" + listedIn(p, name)})
	}
	return nil
}

// configFolder is where a generator of this run writes configuration. ok is
// false when that is no folder of the project, or the generator writes code.
func (j *job) configFolder(name string, src *sources) (folder string, ok bool) {
	i := slices.IndexFunc(j.generators, func(g generator) bool { return g.name == name })
	if i < 0 || name == "object" {
		return "", false
	}
	switch rule := j.generators[i].rule.(type) {
	case genall.OutputArtifacts:
		folder = string(rule.Config)
	case genall.OutputToDirectory:
		folder = string(rule)
	default:
		return "", false
	}
	return inProject(src.dir, filepath.FromSlash(folder))
}

// listedIn tells which kustomization still lists the file, in its folder or
// the one above. The text continues a message; it is empty when none does.
func listedIn(p *scaffold.Plan, name string) string {
	item := path.Base(name)
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		file := path.Join(dir, "kustomization.yaml")
		if content, err := p.Read(file); err == nil {
			for i, line := range strings.Split(string(content), "\n") {
				entry, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
				if isItem && path.Clean(strings.Trim(strings.TrimSpace(entry), `"'`)) == item {
					return fmt.Sprintf("; %s:%d lists it, take the line out", file, i+1)
				}
			}
		}
		if dir == "." || dir != path.Dir(name) {
			return ""
		}
		item = path.Join(path.Base(dir), item)
	}
}
