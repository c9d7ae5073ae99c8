// Package header plans the header comment of Go files: its text, its year, and its
// replacement in existing files.
package header

import (
	"cmp"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/lazyregexp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// File contains the text that every Go file starts with. The generators read it too. It
// belongs to the user: operon creates it, and changes it only if asked.
const File = "hack/boilerplate.go.txt"

// Licenses are the values of --license. The first one is the default.
var Licenses = []string{"apache2", "copyright", "none"}

// LicenseOptions are the options that determine the header.
var LicenseOptions = []string{"license", "license-file", "owner"}

// apacheNotice is the notice from the license's appendix
// (https://www.apache.org/licenses/LICENSE-2.0#apply).
const apacheNotice = `
Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
`

// Plan plans the header file from the license options. If the file exists, options that
// would change it are an error.
func Plan(e plugin.Event, p *scaffold.Plan) error {
	have, err := p.Read(File)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	year := e.Environment.Year
	if y := cmp.Or(yearOf(string(have)), yearIn(string(have), strings.ReplaceAll(e.Environment.LicenseText, "\r\n", "\n"))); y != "" {
		year = y // repeating the command in a later year gives the same header
	}
	text, err := headerText(e, year)
	if err != nil {
		return err
	}
	if !exists {
		return p.Share(File, 0o644, []byte(text))
	}
	for _, option := range LicenseOptions {
		if _, given := e.Options[option]; given && strings.TrimSpace(text) != strings.TrimSpace(string(have)) {
			return fault.Usage("leave out --"+option+"; operon edit --"+option+" changes the header of all Go files",
				"--%s requires another header than the one in %s", option, File)
		}
	}
	return nil
}

// headerText returns the header for the options. It can be empty.
func headerText(e plugin.Event, year string) (string, error) {
	owner, license := strings.TrimSpace(e.String("owner")), Licenses[0]
	if given := e.String("license"); given != "" {
		license = given
	}
	if !slices.Contains(Licenses, license) {
		return "", fault.Usage("valid licenses: "+strings.Join(Licenses, ", "), "unknown license %q", license)
	}
	if err := checkOwner(owner); err != nil {
		return "", err
	}
	if name := e.String("license-file"); name != "" {
		text := strings.ReplaceAll(e.Environment.LicenseText, "\r\n", "\n")
		if err := checkHeader(text); err != nil {
			return "", fault.Usage("give a file that is one Go comment: /* ... */, or lines that start with //",
				"--license-file %s: %s", name, err)
		}
		return withNewline(withYear(text, year)), nil
	}
	if license == "none" {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("/*\n" + copyright(year, owner) + "\n")
	if license == "apache2" {
		b.WriteString(apacheNotice)
	}
	b.WriteString("*/\n")
	return b.String(), nil
}

func copyright(year, owner string) string {
	words := []string{"Copyright"}
	for _, w := range []string{year, owner} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.TrimSuffix(strings.Join(words, " "), ".") + "."
}

// yearOf returns the year in a header that Plan wrote, or "".
func yearOf(header string) string {
	_, after, found := strings.Cut(header, "/*\nCopyright ")
	if !found || len(after) < 4 || strings.Trim(after[:4], "0123456789") != "" {
		return ""
	}
	return after[:4]
}

// checkOwner checks that the owner fits on one line of a comment.
func checkOwner(owner string) error {
	const hint = `give a name such as --owner "The Fleet Authors"`
	switch {
	case !utf8.ValidString(owner):
		return fault.Usage(hint, "owner %q is not UTF-8 text", owner)
	case strings.Contains(owner, "*/"):
		return fault.Usage(hint, "owner %q would end the comment", owner)
	case strings.ContainsFunc(owner, breaksLine):
		return fault.Usage(hint, "owner %q contains a line break or another control character", owner)
	}
	return nil
}

// breaksLine reports whether r must not occur in a line of text. Go sources must not contain a
// byte order mark.
func breaksLine(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

// checkHeader returns an error if text is neither empty nor a plain Go comment. It rejects
// directives: a build constraint in the header of every file would exclude the whole project
// from the build.
func checkHeader(text string) error {
	fset := token.NewFileSet()
	var s scanner.Scanner
	var wrong error
	note := func(pos token.Position, message string) {
		if wrong == nil {
			wrong = fmt.Errorf("line %d: %s", pos.Line, message)
		}
	}
	if strings.HasPrefix(text, "\ufeff") { // the scanner accepts it
		return errors.New("line 1: it starts with a byte order mark")
	}
	s.Init(fset.AddFile("", -1, len(text)), []byte(text), note, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return wrong
		}
		switch {
		case tok != token.COMMENT:
			note(fset.Position(pos), fmt.Sprintf("%q is outside a comment", lit))
		case isDirective(lit):
			note(fset.Position(pos), fmt.Sprintf("%q is a directive", lit))
		case marker().MatchString(lit):
			note(fset.Position(pos), fmt.Sprintf("%q is a marker, which generators would find in each file", strings.TrimSpace(marker().FindString(lit))))
		}
	}
}

// marker is a line of a comment that controller-gen reads, as in package markers of controller-tools.
var marker = lazyregexp.New(`(?m)^[ \t]*(?://+|/?\*+)?[ \t]*\+[a-zA-Z].*$`)

func isDirective(comment string) bool {
	return slices.ContainsFunc([]string{"//go:", "//line ", "/*line ", "// +build", "//+build"}, func(d string) bool {
		return strings.HasPrefix(comment, d)
	})
}

func withNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
