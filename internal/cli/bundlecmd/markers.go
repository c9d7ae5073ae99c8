package bundlecmd

import (
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/olm/csv"
	"github.com/operon-dev/operon/internal/olm/descriptors"
	"github.com/operon-dev/operon/internal/project"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// readMarkers reads the markers of the kinds whose CRDs are in the manifests. Loading packages
// takes time, so it happens only if a source of the project has a marker, or if types belong to
// another module.
func readMarkers(
	ctx context.Context, a *command.App, s command.Project, objects []csv.Object,
) (map[schema.GroupVersionKind]*descriptors.Owned, error) {
	kinds := map[schema.GroupVersionKind]descriptors.Type{}
	external := false
	for _, r := range s.Config.Resources {
		gvk := schema.GroupVersionKind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind}
		if r.Path == "" || !hasCRD(objects, gvk) {
			continue
		}
		kinds[gvk] = descriptors.Type{Package: r.Path, Kind: r.Kind}
		external = external || r.Path != s.Config.Repo && !strings.HasPrefix(r.Path, s.Config.Repo+"/")
	}
	markers := ownedKinds(s.Config)
	if len(kinds) == 0 || !s.Plan.Exists("go.mod") {
		return markers, nil
	}
	if !external {
		marked, err := hasMarkers(s.Root)
		if err != nil || !marked {
			return markers, err
		}
	}
	types := make([]descriptors.Type, 0, len(kinds))
	for _, t := range kinds {
		types = append(types, t)
	}
	found, err := descriptors.Load(ctx, s.Root, a.Environ, types)
	if err != nil {
		return nil, err
	}
	for gvk, t := range kinds {
		if owned := found[t]; owned != nil {
			if derived := markers[gvk]; derived != nil {
				owned.Derived = derived.Derived
			}
			markers[gvk] = owned
		}
	}
	return markers, nil
}

// ownedKinds describes the kinds of the project by the objects that PROJECT says their controllers own.
func ownedKinds(c *project.Config) map[schema.GroupVersionKind]*descriptors.Owned {
	all := map[schema.GroupVersionKind]*descriptors.Owned{}
	for _, r := range c.Resources {
		owned := &descriptors.Owned{Order: descriptors.Unordered}
		for _, value := range c.AllFeatures(r).Owns {
			if k, err := c.Target("owns", value); err == nil {
				owned.Derived = append(owned.Derived, descriptors.NewResource(k.Kind, k.Version, ""))
			}
		}
		if len(owned.Derived) > 0 {
			all[schema.GroupVersionKind{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind}] = owned
		}
	}
	return all
}

// hasCRD reports whether the objects have a CRD for the kind.
func hasCRD(objects []csv.Object, gvk schema.GroupVersionKind) bool {
	for _, o := range objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		group, kind := jsonvalue.String(o.Object, "spec", "group"), jsonvalue.String(o.Object, "spec", "names", "kind")
		if group == gvk.Group && kind == gvk.Kind {
			return true
		}
	}
	return false
}

// hasMarkers reports whether a Go file of the project has a marker. Folders that the go command
// ignores do not count.
func hasMarkers(root string) (bool, error) {
	found := false
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && strings.ContainsAny(entry.Name()[:1], "._"), entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		text, err := input.ReadFile(name, input.Text)
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte(descriptors.Marker)) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}
