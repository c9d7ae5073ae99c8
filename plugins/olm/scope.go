package olm

import (
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/scaffold"
)

// followScope changes the install modes in the metadata that another tool wrote when the manager
// watches other namespaces. In operon's own, the template says them.
func followScope(namespaced bool, p *scaffold.Plan) error {
	names, err := p.Files(basesDir)
	if err != nil {
		return err
	}
	for _, name := range names {
		file := path.Join(basesDir, name)
		if !strings.HasSuffix(name, baseSuffix) || p.HasBase(file) {
			continue
		}
		usual := true
		err := p.Edit(file, func(src []byte) (out []byte, err error) {
			out, usual, err = setModes(src, namespaced)
			return out, err
		})
		if err != nil {
			return fault.In(file, err)
		}
		if !usual {
			p.Warn(scaffold.Warning{File: file, Rule: "install-modes", Message: "spec.installModes does not follow the namespaces that the manager watches: edit it"})
		}
	}
	return nil
}

// setModes sets the install modes of a ClusterServiceVersion. It reports false, and changes nothing,
// if they fit neither a manager for all namespaces nor one for its own.
func setModes(src []byte, namespaced bool) ([]byte, bool, error) {
	doc, err := yamledit.Decode(src)
	if err != nil {
		return nil, true, err
	}
	modes := modesOf(doc.Value)
	if len(modes) == 0 || fit(modes, namespaced) {
		return src, true, nil // operon bundle generate derives those that are missing
	}
	if !fit(modes, !namespaced) {
		return src, false, nil
	}
	for mode, supported := range scopedModes(namespaced) {
		modes[mode]["supported"] = supported
	}
	out, err := yamledit.Rewrite(src, doc.Value)
	return out, true, err
}

// scopedModes says which install modes follow from the namespaces that the manager watches.
func scopedModes(namespaced bool) map[string]bool {
	return map[string]bool{"AllNamespaces": !namespaced, "OwnNamespace": namespaced, "SingleNamespace": namespaced}
}

// modesOf returns the install modes by type.
func modesOf(csv map[string]any) map[string]map[string]any {
	modes := map[string]map[string]any{}
	for _, mode := range jsonvalue.Maps(csv, "spec", "installModes") {
		modes[jsonvalue.String(mode, "type")] = mode
	}
	return modes
}

// fit reports whether install modes fit a manager with this scope.
func fit(modes map[string]map[string]any, namespaced bool) bool {
	for mode, want := range scopedModes(namespaced) {
		if modes[mode]["supported"] != want {
			return false
		}
	}
	return true
}
