package output

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/scaffold"
)

// warnListed warns about missing CRDs that a kustomization lists: kustomize fails until
// the entry is removed.
func warnListed(runs []Run, src *overlay.Project, p *scaffold.Plan) {
	seen := []string{"."}
	for _, r := range runs {
		if folder, ok := configFolder(r.Job, "crd", src); ok && !slices.Contains(seen, folder) {
			seen = append(seen, folder)
			warnListedIn(folder, p)
		}
	}
}

// warnListedIn is warnListed for the CRDs of one folder.
func warnListedIn(folder string, p *scaffold.Plan) {
	file := path.Join(path.Dir(folder), "kustomization.yaml")
	content, err := p.Read(file)
	if err != nil {
		return
	}
	for i, line := range strings.Split(string(content), "\n") {
		entry, isItem := listItem(line)
		if name := path.Join(path.Dir(folder), entry); isItem && path.Dir(name) == folder && path.Ext(name) == ".yaml" && !p.Exists(name) {
			if slices.ContainsFunc(p.Warnings(), func(w scaffold.Warning) bool {
				return w.File == file && w.Line == i+1 && w.Rule == ruleListedGone
			}) {
				continue
			}
			p.Warn(scaffold.Warning{File: file, Line: i + 1, Rule: ruleListedMissing,
				Message: "it lists " + entry + ", which does not exist and which nothing generates; remove the line"})
		}
	}
}

// listItem returns the text of an item in a YAML list.
func listItem(line string) (text string, ok bool) {
	entry, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
	return path.Clean(strings.Trim(strings.TrimSpace(entry), `"'`)), ok
}

// listedIn returns the end of a message that names the kustomization with the file, in
// the folder of the file or its parent. It is empty if there is none.
func listedIn(p *scaffold.Plan, name string) string {
	item := path.Base(name)
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		file := path.Join(dir, "kustomization.yaml")
		if content, err := p.Read(file); err == nil {
			for i, line := range strings.Split(string(content), "\n") {
				if entry, isItem := listItem(line); isItem && entry == item {
					return fmt.Sprintf("; %s:%d lists it, remove that line", file, i+1)
				}
			}
		}
		if dir == "." || dir != path.Dir(name) {
			return ""
		}
		item = path.Join(path.Base(dir), item)
	}
}
