// Package header plans the header of Go files: its text, its year, and its
// replacement in files that have it.
package header

import (
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
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/scaffold"
)

// headerFile holds what every Go file starts with; the generators read it too.
// It is the user's: once it is there, operon never changes it.
const File = "hack/boilerplate.go.txt"

// licences are the values of --license; the first is the default.
var Licences = []string{"apache2", "copyright", "none"}

// licenceOptions are those that say what the header is to be.
var LicenceOptions = []string{"license", "license-file", "owner"}

// apacheNotice is what the licence asks to be attached to a work (its
// appendix, https://www.apache.org/licenses/LICENSE-2.0#apply).
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

// planHeader plans the header file from the licence options. Where there is a
// header already, options that ask for another one are refused.
func PlanHeader(e plugin.Event, p *scaffold.Plan) error {
	have, err := p.Read(File)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	year := e.Environment.Year
	if y := yearOf(string(have)); y != "" {
		year = y // a repeat in a later year asks for the same header
	}
	text, err := licenceText(e, year)
	if err != nil {
		return err
	}
	if !exists {
		return p.Share(File, 0o644, []byte(text))
	}
	for _, option := range LicenceOptions {
		if _, given := e.Options[option]; given && strings.TrimSpace(text) != strings.TrimSpace(string(have)) {
			return fault.Usage("leave out --"+option+"; operon edit --"+option+" changes the header of all Go files",
				"--%s requires another header than the one in %s", option, File)
		}
	}
	return nil
}

// licenceText is the header that the options ask for. It may be empty.
func licenceText(e plugin.Event, year string) (string, error) {
	owner, licence := strings.TrimSpace(e.String("owner")), Licences[0]
	if given := e.String("license"); given != "" {
		licence = given
	}
	if !slices.Contains(Licences, licence) {
		return "", fault.Usage("valid licences: "+strings.Join(Licences, ", "), "unknown licence %q", licence)
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
		return withNewline(text), nil
	}
	if licence == "none" {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("/*\n" + copyright(year, owner) + "\n")
	if licence == "apache2" {
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

// yearOf returns the year in a header that planHeader wrote, or "".
func yearOf(header string) string {
	_, after, found := strings.Cut(header, "/*\nCopyright ")
	if !found || len(after) < 4 || strings.Trim(after[:4], "0123456789") != "" {
		return ""
	}
	return after[:4]
}

// checkOwner keeps the owner inside one line of a comment.
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

// breaksLine reports characters that have no place in a line of text. The byte
// order mark is one that Go source may not hold.
func breaksLine(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

// checkHeader reports what in text is not a plain Go comment. Empty text is
// fine. Directives are refused: a build constraint in the header of every file
// would switch the whole project off.
func checkHeader(text string) error {
	fset := token.NewFileSet()
	var s scanner.Scanner
	var wrong error
	note := func(pos token.Position, message string) {
		if wrong == nil {
			wrong = fmt.Errorf("line %d: %s", pos.Line, message)
		}
	}
	if strings.HasPrefix(text, "\ufeff") { // which the scanner lets pass
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
			note(fset.Position(pos), fmt.Sprintf("%q stands outside a comment", lit))
		case isDirective(lit):
			note(fset.Position(pos), fmt.Sprintf("%q is a directive", lit))
		}
	}
}

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
