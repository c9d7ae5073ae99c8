package request

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/gen/calls"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
)

// rebase makes all paths start from the root, for a call that runs in dir. outside means that
// it removed generators with an absolute output folder outside the project. why says which
// other path is outside.
func (a *arguments) rebase(dir string) (outside bool, why string) {
	local := func(name string) string {
		abs := name
		if !path.IsAbs(name) {
			abs = path.Join(dir, name)
		}
		rel, ok := calls.Rel(abs)
		if !ok && why == "" {
			why = "it refers to " + name + ", which is outside the project"
		}
		return rel
	}
	for i, p := range a.paths {
		switch {
		case path.IsAbs(p) || strings.HasPrefix(p, "."):
			if a.paths[i] = local(p); a.paths[i] != "." {
				a.paths[i] = "./" + a.paths[i]
			}
		case dir != calls.Root:
			return false, "paths=" + p + " is an import path, and the call runs in another folder"
		}
	}
	isOutside := func(folder genall.OutputToDirectory) bool {
		_, inside := calls.Rel(string(folder))
		return path.IsAbs(string(folder)) && !inside
	}
	folder := func(name genall.OutputToDirectory) genall.OutputToDirectory {
		return genall.OutputToDirectory(local(string(name)))
	}
	kept := a.generators[:0:0]
	for _, g := range a.generators {
		switch rule := g.Rule.(type) {
		case genall.OutputToDirectory:
			if isOutside(rule) {
				outside = true
				continue
			}
			g.Rule = folder(rule)
		case genall.OutputArtifacts:
			if g.Name == ApplyConfigurations {
				break
			}
			if isOutside(rule.Config) || isOutside(rule.Code) {
				outside = true
				continue
			}
			if rule.Config = folder(rule.Config); rule.Code != "" {
				rule.Code = folder(rule.Code)
			}
			g.Rule = rule
		}
		g.Gen = a.rebaseFiles(g, local)
		kept = append(kept, g)
	}
	a.generators, a.rule, a.rules = kept, nil, map[string]genall.OutputRule{}
	for _, g := range kept {
		a.rules[g.Name] = g.Rule
	}
	return outside, why
}

// rebaseFiles applies local to the files that a generator reads, and to its text.
func (a *arguments) rebaseFiles(g Generator, local func(string) string) Options {
	moved := func(file *string) {
		if *file == "" {
			return
		}
		rel := local(*file)
		a.text[g.Name] = strings.Replace(a.text[g.Name], *file, rel, 1)
		*file = rel
	}
	if patch, ok := g.Gen.(schemapatcher.Generator); ok {
		moved(&patch.ManifestsPath)
		return patch
	}
	return editHeader(g.Gen, func(file, _ *string) { moved(file) })
}
