package header

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

// yearPlaceholder is the placeholder for the year in header files, which kubebuilder replaces in the Go files that it
// writes. controller-gen replaces " YEAR", also at the start of a longer word.
var yearPlaceholder = lazyregexp.New(`\bYEAR\b`)

// withYear returns header with the year in place of the placeholder.
func withYear(header, year string) string {
	return yearPlaceholder().ReplaceAllString(header, cmp.Or(year, "YEAR"))
}

// yearIn returns the year that src has in place of the placeholder in header, or "".
func yearIn(src, header string) string {
	re, err := regexp.Compile(withYear(regexp.QuoteMeta(header), "([0-9]{4})"))
	if err != nil {
		return ""
	}
	if m := re.FindStringSubmatch(strings.ReplaceAll(src, "\r\n", "\n")); len(m) > 1 {
		return m[1]
	}
	return ""
}

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
	return withNewline(withYear(header, Year(header, e, p))), nil
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
	if !yearPlaceholder().MatchString(header) {
		return ""
	}
	for _, name := range withHeader(e.Project) {
		src, err := p.Read(name)
		if err != nil {
			continue // other code reads the files that it needs and reports errors
		}
		if year := yearIn(string(src), header); year != "" {
			return year
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
