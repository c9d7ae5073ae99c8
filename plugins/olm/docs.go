package olm

import (
	"bytes"
	"strings"

	"github.com/operon-dev/operon/internal/scaffold"
)

const (
	readme = "README.md"
	agents = "AGENTS.md"
)

const bundleSection = `## Bundle

` + "```sh" + `
make bundle VERSION=0.1.0 IMG=<image>  # bundle/, for the Operator Lifecycle Manager
make bundle-push catalog-push          # its image, and the image of a catalog that contains it
` + "```" + `

Commit ` + "`bundle/`" + `. What users read in a catalog is in ` + "`config/manifests/bases/`" + `.

`

const bundleRow = "| generate the bundle for OLM | `make bundle VERSION=<version> IMG=<image>`; commit `bundle/` |\n"

// describe adds bundles to the documents that operon wrote.
func describe(p *scaffold.Plan) error {
	for name, add := range map[string]func([]byte) []byte{readme: addSection, agents: addRow} {
		if !p.Seeded(name) && !p.HasBase(name) {
			continue // the user's own
		}
		if err := p.Edit(name, func(src []byte) ([]byte, error) { return add(src), nil }); err != nil {
			return err
		}
	}
	return nil
}

// addSection adds a section before those about the end of the operator, or at the end.
func addSection(src []byte) []byte {
	if bytes.Contains(src, []byte("make bundle")) {
		return src
	}
	for _, next := range []string{"\n## Uninstall\n", "\n## Without operon\n"} {
		if before, after, ok := bytes.Cut(src, []byte(next)); ok {
			return bytes.Join([][]byte{before, []byte("\n" + bundleSection), []byte(strings.TrimPrefix(next, "\n")), after}, nil)
		}
	}
	return append(append(bytes.TrimRight(src, "\n"), "\n\n"...), strings.TrimRight(bundleSection, "\n")+"\n"...)
}

// addRow adds a row to the first table, which has the commands.
func addRow(src []byte) []byte {
	at := 0
	for line := range bytes.Lines(src) {
		isRow := bytes.HasPrefix(line, []byte("|"))
		if at > 0 && !isRow {
			break
		}
		if isRow {
			at = bytes.Index(src, line) + len(line)
		}
	}
	if at == 0 || bytes.Contains(src, []byte("make bundle")) {
		return src
	}
	return bytes.Join([][]byte{src[:at], []byte(bundleRow), src[at:]}, nil)
}
