package hookscaffold

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/operon-dev/operon/internal/edit/yamledit"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/scaffold"
)

// Kinds returns the built-in kinds and the kinds of the CRDs in folders of the project.
// hasCRDs selects the files with CRDs by their path in the folder.
func Kinds(p *scaffold.Plan, hasCRDs func(name string) bool, folders ...string) (*kubeapi.Kinds, error) {
	var all []kubeapi.CRD
	err := eachCRDFile(p, hasCRDs, folders, func(text []byte) error {
		crds, err := kubeapi.ReadCRDs(text)
		all = append(all, crds...)
		return err
	})
	return kubeapi.Builtin().With(all...), err
}

// IsYAML reports whether name is a YAML file directly in its folder.
func IsYAML(name string) bool { return path.Ext(name) == ".yaml" && path.Dir(name) == "." }

// eachCRDFile calls read for the content of each file that hasCRDs selects by its path in
// a folder.
func eachCRDFile(p *scaffold.Plan, hasCRDs func(name string) bool, folders []string, read func(text []byte) error) error {
	for _, folder := range folders {
		files, err := p.Below(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, name := range files {
			if !hasCRDs(strings.TrimPrefix(name, folder+"/")) || !p.Exists(name) {
				continue
			}
			text, err := p.Read(name)
			if err != nil {
				return err
			}
			if err := read(text); err != nil {
				if syntax := yamledit.CheckSyntax(name, text); syntax != nil {
					return syntax
				}
				return fault.In(name, err)
			}
		}
	}
	return nil
}
