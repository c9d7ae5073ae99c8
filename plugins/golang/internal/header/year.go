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

// yearPlaceholder is the placeholder for the year in header files of kubebuilder and
// controller-gen. Both replace it in the Go files that they write.
const yearPlaceholder = " YEAR"

// Read returns the project's header for templates, with the year filled in. A header ends with
// a newline, so that an empty line separates it from a package comment. Without a header, the
// result is empty; Read warns if only the header file is missing.
func Read(e plugin.Event, p *scaffold.Plan) (string, error) {
	header, err := Raw(p)
	if err != nil {
		return "", err
	}
	if !p.Exists(File) {
		warnMissing(e.Project, p)
	}
	if err := checkHeader(header); err != nil {
		return "", fault.Failed("all Go files start with it: write one Go comment, or leave it empty", "%s: %s", File, err)
	}
	if year := Year(header, e, p); year != "" {
		header = strings.ReplaceAll(header, yearPlaceholder, " "+year)
	}
	return withNewline(header), nil
}

// warnMissing warns that the header file is missing, if main.go has a header.
func warnMissing(c *project.Config, p *scaffold.Plan) {
	src, err := p.Read(c.MainFile())
	if err != nil || !hasHeader(string(src)) {
		return
	}
	p.Warn(scaffold.Warning{File: File, Rule: "header-missing", Message: "the file is missing, so new Go files have no license header: " +
		"restore it from version control, or create an empty file if they need none"})
}

// Raw returns the content of the header file without surrounding blank lines. It is empty if
// the file does not exist.
func Raw(p *scaffold.Plan) (string, error) {
	text, err := p.Read(File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")), nil
}

// Year returns the replacement for the placeholder in header: the year in existing Go files of
// the project, so that output does not change with the calendar, or else the year of the
// event. It is empty if header has no placeholder.
func Year(header string, e plugin.Event, p *scaffold.Plan) string {
	if !strings.Contains(header, yearPlaceholder) {
		return ""
	}
	re, err := regexp.Compile(strings.ReplaceAll(regexp.QuoteMeta(header), yearPlaceholder, " ([0-9]{4})"))
	if err == nil {
		for _, name := range withHeader(e.Project) {
			src, err := p.Read(name)
			if err != nil {
				continue // other code reads the files that it needs and reports errors
			}
			if m := re.FindStringSubmatch(strings.ReplaceAll(string(src), "\r\n", "\n")); m != nil {
				return m[1]
			}
		}
	}
	return cmp.Or(e.String("year"), e.Environment.Year)
}

// withHeader lists files that start with the header. Files that rarely change come first.
func withHeader(c *project.Config) []string {
	names := []string{c.MainFile()}
	for _, r := range c.Resources {
		names = append(names, c.TypesFile(r), path.Join(c.APIDir(r), "zz_generated.deepcopy.go"))
	}
	return names
}
