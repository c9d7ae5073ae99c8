// Package applyconfig generates the apply configurations of API packages, with the bytes of
// controller-gen's generator applyconfiguration.
//
// That generator writes to the disk, loads packages in the working folder of the process, and type-checks all
// dependencies from their sources, which takes seconds. This package calls the library below it, package
// generators of k8s.io/code-generator, with the types of the packages that fields need; others are not
// type-checked. The OpenAPI document that the library needs comes from package schemas. Files go to a temporary
// folder.
//
// The outputs of a package are kept in the store as long as neither its sources change nor those of the packages
// that it imports.
package applyconfig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/gen/generate"
	"github.com/operon-dev/operon/internal/gen/generate/schemas"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/output"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/progress"
	"github.com/operon-dev/operon/internal/gen/request"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

const resourceMarker = "kubebuilder:resource"

// storeKind is the kind of the entries in the store.
const storeKind = "applyconfig"

// Run runs the generator for a job with its options.
func Run(ctx context.Context, files *overlay.Project, job *request.Job, options request.ApplyConfiguration) (*output.Result, error) {
	src, err := read(files, job.Paths)
	if err != nil {
		return nil, err
	}
	res := &output.Result{Way: way, Matched: len(src.folders) > 0, Folders: src.folders}
	if len(src.marked) > 0 {
		res.Outputs, err = outputsOf(ctx, files, job, options, src)
	}
	return res, err
}

// way is how this generator loads packages.
const way = "marked packages"

// outputsOf returns the files for the marked packages. It generates for those that are not in the store.
func outputsOf(ctx context.Context, files *overlay.Project, job *request.Job, options request.ApplyConfiguration, src *sources) ([]generate.Output, error) {
	query, err := load.NewQuery(ctx, files, src.marked, job.Environ, job.Store)
	if err != nil {
		return nil, err
	}
	text, err := header(files, options)
	if err != nil {
		return nil, err
	}
	found := map[string][]generate.Output{} // by folder, as in src.marked
	keys := map[string]store.Key{}
	var missing []string
	keyed := src.keyed(query)
	for i, folder := range src.marked {
		keys[folder] = src.key(query, options, text, i)
		var outputs []generate.Output
		if kept, ok := job.Store.Get(storeKind, keys[folder]); ok && keyed && json.Unmarshal(kept, &outputs) == nil {
			found[folder] = outputs
		} else {
			missing = append(missing, folder)
		}
	}
	if len(missing) > 0 {
		progress.From(ctx)("generating "+request.ApplyConfigurations, 0, 0)
		if len(missing) < len(src.marked) {
			if query, err = load.NewQuery(ctx, files, missing, job.Environ, job.Store); err != nil {
				return nil, err
			}
		}
		generated, err := generateAll(ctx, query, options, text)
		if err != nil {
			return nil, err
		}
		for _, folder := range missing {
			found[folder] = generated[folder]
			if content, err := json.Marshal(found[folder]); err == nil && keyed {
				job.Store.Put(storeKind, keys[folder], content)
			}
		}
	}
	var all []generate.Output
	for _, folder := range src.marked {
		all = append(all, found[folder]...)
	}
	return all, nil
}

// header returns the text of the header file with the year. The library would take the year from
// the clock.
func header(files *overlay.Project, options request.ApplyConfiguration) (string, error) {
	if options.HeaderFile == "" {
		return "", nil
	}
	content, err := files.Open(options.HeaderFile)
	if err != nil {
		return "", err
	}
	text := strings.ReplaceAll(string(content), "\r\n", "\n")
	if options.Year() != "" {
		text = strings.ReplaceAll(text, "YEAR", options.Year())
	}
	return text, nil
}

// generateAll generates for all packages of a query that have the marker, and returns the outputs by folder. It
// reports errors in their sources.
func generateAll(ctx context.Context, query *load.Query, options request.ApplyConfiguration, header string) (map[string][]generate.Output, error) {
	set, err := query.Load(ctx)
	if err != nil {
		return nil, err
	}
	reg := &markers.Registry{}
	if err := options.RegisterMarkers(reg); err != nil {
		return nil, err
	}
	collector := &markers.Collector{Registry: reg}
	checker := &loader.TypeChecker{NodeFilters: []loader.NodeFilter{schemas.NeedsTypes}}
	var found []*apiPackage
	var roots []*loader.Package
	for _, root := range set.Roots {
		values, applies := packageMarkers(root, collector)
		if !applies {
			continue
		}
		p, err := newPackage(root, values, collector, checker)
		if err != nil {
			return nil, err
		}
		found, roots = append(found, p), append(roots, root)
	}
	documents := make([][]byte, len(found))
	var problems []error
	for i, p := range found {
		if documents[i], err = p.document(collector, checker); err != nil {
			problems = append(problems, err)
		}
	}
	if all := load.CollectProblems(&load.Set{Fset: set.Fset, Roots: roots}, problems, query.Project); len(all) > 0 {
		return nil, all.Fault(query.Project)
	}
	w, err := newWorkspace(query, header, options)
	if err != nil {
		return nil, err
	}
	outputs := map[string][]generate.Output{}
	for i, p := range found {
		if outputs[pathOf(query.Project, p.root.Dir)], err = w.generate(p, documents[i]); err != nil {
			return nil, fault.In("generate apply configurations of "+p.root.PkgPath, err)
		}
	}
	return outputs, nil
}

// apiPackage is a package with apply configurations.
type apiPackage struct {
	root    *loader.Package
	group   string
	version string
	enabled []string // types with an apply configuration of their own
	cluster map[string]bool
	folder  string // of the outputs, from that of the package
}

// packageMarkers returns the markers of a package. applies is false if it has no apply configurations. As in
// controller-gen, a package whose markers do not parse has none.
func packageMarkers(root *loader.Package, collector *markers.Collector) (values markers.MarkerValues, applies bool) {
	values, err := markers.PackageMarkers(collector, root)
	on, _ := values.Get(request.MarkerApply).(bool)
	return values, err == nil && on && len(root.GoFiles) > 0
}

// newPackage returns a package with apply configurations that has these markers.
func newPackage(root *loader.Package, values markers.MarkerValues, collector *markers.Collector, checker *loader.TypeChecker) (*apiPackage, error) {
	p := &apiPackage{root: root, version: root.Name, folder: "applyconfiguration", cluster: map[string]bool{}}
	var ok bool
	if p.group, ok = values.Get("groupName").(string); !ok {
		return nil, fault.Failed("add the comment // +groupName=<group> to "+filepath.Base(root.GoFiles[0]),
			"package %s has no API group, which its apply configurations need", root.PkgPath)
	}
	if version, ok := values.Get("versionName").(string); ok {
		p.version = version
	}
	if folder, ok := values.Get(request.MarkerApplyOutput).(string); ok {
		p.folder = folder
	}
	checker.Check(root)
	return p, markers.EachType(collector, root, func(info *markers.TypeInfo) {
		resource := info.Markers.Get(resourceMarker)
		enabled, set := info.Markers.Get(request.MarkerApply).(bool)
		if enabled || !set && resource != nil {
			p.enabled = append(p.enabled, info.Name)
		}
		if r, ok := resource.(crdmarkers.Resource); ok && r.Scope == "Cluster" {
			p.cluster[info.Name] = true
		}
	})
}

// place returns the path of an output from the root of the project.
func (p *apiPackage) place(files *overlay.Project, name string) (string, error) {
	folder := filepath.Join(p.root.Dir, filepath.FromSlash(p.folder))
	rel, ok := overlay.Rel(files.Dir, folder)
	if !ok {
		return "", fault.Usage("choose a folder below the project root",
			"+%s=%s of package %s is outside the project", request.MarkerApplyOutput, p.folder, p.root.PkgPath)
	}
	return path.Join(rel, name), nil
}

// recovered calls f, and returns what it panics with as an error.
func recovered(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New(strings.TrimSpace(fmt.Sprint(r)))
		}
	}()
	return f()
}
