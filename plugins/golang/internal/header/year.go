package header

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// yearPlaceholder stands for the year in the header files of kubebuilder and
// controller-gen, which replace it in the Go files that they write.
const yearPlaceholder = " YEAR"

// readHeader returns the project's header as templates print it: with the year
// filled in, and with a line end, so that an empty line parts it from a package
// comment; or empty.
func Read(e plugin.Event, p *scaffold.Plan) (string, error) {
	header, err := Raw(p)
	if err != nil {
		return "", err
	}
	if err := checkHeader(header); err != nil {
		return "", fault.Failed("all Go files start with it: write one Go comment, or leave it empty", "%s: %s", File, err)
	}
	if year := Year(header, e, p); year != "" {
		header = strings.ReplaceAll(header, yearPlaceholder, " "+year)
	}
	return withNewline(header), nil
}

// headerText returns the header as the header file has it, without the lines
// around it; it is empty when there is no such file.
func Raw(p *scaffold.Plan) (string, error) {
	text, err := p.Read(File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")), nil
}

// yearFor returns what takes the place of the placeholder in header: the year
// that the project's Go files already have there, so that New Year changes
// nothing, else the one that the command gives. It is empty without either.
func Year(header string, e plugin.Event, p *scaffold.Plan) string {
	if !strings.Contains(header, yearPlaceholder) {
		return ""
	}
	re, err := regexp.Compile(strings.ReplaceAll(regexp.QuoteMeta(header), yearPlaceholder, " ([0-9]{4})"))
	if err == nil {
		for _, name := range withHeader(e.Project) {
			src, err := p.Read(name)
			if err != nil {
				continue // a file that is needed is read elsewhere, and its error told
			}
			if m := re.FindStringSubmatch(strings.ReplaceAll(string(src), "\r\n", "\n")); m != nil {
				return m[1]
			}
		}
	}
	return cmp.Or(e.String("year"), e.Environment.Year)
}

// withHeader lists files that start with the header, those that change least
// first.
func withHeader(c *project.Config) []string {
	names := []string{project.MainFile}
	for _, r := range c.Resources {
		names = append(names, c.TypesFile(r), path.Join(c.APIDir(r), "zz_generated.deepcopy.go"))
	}
	return names
}
