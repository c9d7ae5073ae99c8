package header

import (
	"cmp"
	"maps"
	"regexp"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
	"github.com/operon-dev/operon/plugins/golang/internal/source"
)

// ownHeader matches headers that operon and kubebuilder write. Year, owner and license notice
// are optional.
var ownHeader = lazyregexp.New(`^/\*\nCopyright(?: ([0-9]{4}|YEAR))?(?: (.*?))?\.?\n(?s:(.*))\*/$`)

// Replace replaces the current header in the project's Go files with the header for the
// license options. Files with another header keep it.
func Replace(e plugin.Event, p *scaffold.Plan) error {
	old, err := Raw(p)
	if err != nil {
		return err
	}
	text, err := nextHeader(e, old, Year(old, e, p))
	if err != nil || strings.TrimSpace(text) == old {
		return err
	}
	if err := p.Share(File, 0o644, []byte(text)); err != nil {
		return err
	}
	before := strings.TrimSpace(old)
	year := Year(before, e, p)
	if err := p.Edit(File, func([]byte) ([]byte, error) { return []byte(text), nil }); err != nil {
		return err
	}
	after := withYear(strings.TrimSpace(text), cmp.Or(year, e.Environment.Year))
	names, err := source.ModuleFiles(p)
	if err != nil {
		return err
	}
	for _, name := range names {
		err := p.Edit(name, func(src []byte) ([]byte, error) { return replaceHeader(src, before, after), nil })
		if err != nil {
			return err
		}
	}
	return nil
}

// nextHeader returns the header for the options. Parts without an option are taken from the
// current header. The project's Go files have the year used.
func nextHeader(e plugin.Event, old, used string) (string, error) {
	given := strings.TrimSpace(strings.ReplaceAll(e.Environment.LicenseText, "\r\n", "\n"))
	year := cmp.Or(used, yearIn(old, given), e.Environment.Year)
	options := maps.Clone(e.Options)
	m := ownHeader().FindStringSubmatch(old)
	if m != nil && e.String("license-file") == "" {
		year = m[1]
	}
	_, license := e.Options["license"]
	_, owner := e.Options["owner"]
	if e.String("license-file") == "" {
		switch {
		case !license && m == nil && old != "":
			return "", fault.Usage("add --license, or give the whole header with --license-file",
				"--owner: %s has your own text, and operon cannot find the owner in it", File)
		case !license && old == "":
			return "", fault.Usage("add --license apache2 or --license copyright", "--owner: the project's Go files have no header (%s is empty)", File)
		case !license && strings.TrimSpace(m[3]) == "":
			options["license"] = "copyright"
		case !license && strings.TrimSpace(m[3]) == strings.TrimSpace(apacheNotice):
			options["license"] = "apache2"
		case !license:
			return "", fault.Usage("add --license, or give the whole header with --license-file",
				"--owner: operon does not know the license in %s", File)
		}
		if !owner && m != nil {
			options["owner"] = m[2]
		}
	}
	e.Options = options
	return headerText(e, year)
}

// constraints matches the lines that must precede everything else in a Go file.
var constraints = lazyregexp.New(`^(?:(?://go:build |// ?\+build )[^\n]*\n|[ \t\r]*\n)*`)

// replaceHeader replaces the header old with next; "" means no header. It does not change a
// file that starts with another comment.
func replaceHeader(src []byte, old, next string) []byte {
	text, eol := string(src), "\n"
	if strings.Contains(text, "\r\n") {
		text, eol = strings.ReplaceAll(text, "\r\n", "\n"), "\r\n"
	}
	lead := constraints().FindString(text)
	rest := text[len(lead):]
	switch {
	case old != "":
		pattern := withYear(regexp.QuoteMeta(old), "[0-9]{4}")
		at := regexp.MustCompile(`^` + pattern + `(?:\n+|$)`).FindString(rest)
		if at == "" {
			return src
		}
		rest = rest[len(at):]
	case hasHeader(rest):
		return src
	}
	if next != "" {
		rest = next + "\n\n" + rest
	}
	out := lead + rest
	if eol != "\n" {
		out = strings.ReplaceAll(out, "\n", eol)
	}
	return []byte(out)
}

// hasHeader reports whether a Go file starts with a header.
func hasHeader(text string) bool {
	return strings.HasPrefix(text, "/*") || strings.HasPrefix(text, "//") && detached(text)
}

// detached reports whether the line comments at the start of text are a header of another
// author, and not the package documentation.
func detached(text string) bool {
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "package "):
			return false
		case !strings.HasPrefix(line, "//"):
			return true
		}
	}
	return true
}
