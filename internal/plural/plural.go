// Package plural forms the plurals of kinds: those of github.com/gobuffalo/flect v1.0.3,
// which controller-gen and kubebuilder use, for every word. Linking flect would add its
// tables to the start-up of each command; this package reads its own when it is asked
// first.
//
// As in flect, words of the user belong to the process. [Use] names them before the first question.
package plural

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/operon-dev/operon/internal/environ"
)

// words has three lists. The first one has nouns with their plurals: singular/plural, and
// other plurals that stay as they are. "=" means that words that end with the noun do not
// follow it, and ">" that the plural is also a singular. The second list has endings with
// their plurals; the first one that matches counts. The third list has acronyms, which
// are words of their own in CamelCase.
//
//go:embed words.txt
var words string

// table is what [words] and the files of the user contain.
type table struct {
	plurals  map[string]string // by singular
	isPlural map[string]bool
	endings  [][2]string // a singular ending and its plural, by priority
	acronyms map[string]bool
}

// Of returns the plural of a word in any case, such as a kind.
func Of(word string) string {
	t := loaded()
	last := t.lastWord(word)
	if last == "" {
		return ""
	}
	if plural, ok := t.plurals[word]; ok {
		return plural
	}
	lower := strings.ToLower(last)
	if t.isPlural[word] || t.isPlural[lower] {
		return word
	}
	head := strings.TrimSuffix(word, last)
	if plural, ok := t.plurals[lower]; ok {
		if last == capitalize(last) {
			plural = capitalize(plural)
		}
		return head + plural
	}
	for _, e := range t.endings {
		if strings.HasSuffix(last, e[1]) {
			return head + last
		}
		if stem, ok := strings.CutSuffix(last, e[0]); ok {
			return head + stem + e[1]
		}
	}
	if strings.HasSuffix(lower, "s") {
		return word
	}
	return word + "s"
}

func capitalize(s string) string {
	if s == "" { // a plural of the user may be empty
		return ""
	}
	runes := []rune(s)
	runes[0] = unicode.ToTitle(runes[0])
	return string(runes)
}

// files are those of the user: words, then acronyms.
var files []string

// Use adds the words of the user to those of this process: the files that flect reads in a working
// folder with an environment. Only the program itself calls it, before anything asks for a plural.
func Use(dir string, env []string) {
	files = nil
	for _, v := range []struct{ variable, file string }{{"INFLECT_PATH", "inflections.json"}, {"ACRONYMS_PATH", "acronyms.json"}} {
		file, ok := environ.Lookup(env, v.variable)
		if !ok {
			file = v.file
		}
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		files = append(files, file)
	}
}

// Files returns the absolute paths of the files with words of the user. They may not exist.
func Files() []string { return files }

// loaded returns the table of this process.
var loaded = sync.OnceValue(func() *table {
	t := newTable()
	if files == nil {
		return t
	}
	var own map[string]string
	if readJSON(files[0], &own) {
		for singular, plural := range own {
			t.plurals[singular], t.isPlural[plural] = plural, true
		}
	}
	var acronyms []string
	if readJSON(files[1], &acronyms) {
		for _, a := range acronyms {
			t.acronyms[a] = true
		}
	}
	return t
})

// readJSON reports whether a file exists and has JSON of the type of v.
func readJSON(file string, v any) bool {
	content, err := os.ReadFile(file)
	return err == nil && json.Unmarshal(content, v) == nil
}

func newTable() *table {
	t := &table{plurals: map[string]string{}, isPlural: map[string]bool{}, acronyms: map[string]bool{}}
	lists := strings.Split(words, "\n\n")
	for entry := range strings.FieldsSeq(lists[0]) {
		noun := strings.Split(strings.TrimLeft(entry, "=>"), "/")
		t.plurals[noun[0]] = noun[1]
		if entry[0] != '=' {
			t.endings = append(t.endings, [2]string{noun[0], noun[1]})
		}
		if entry[0] != '>' {
			for _, plural := range noun[1:] {
				t.isPlural[plural] = true
			}
		}
	}
	slices.Reverse(t.endings) // the last noun has priority
	for entry := range strings.FieldsSeq(lists[1]) {
		singular, plural, _ := strings.Cut(entry, "/")
		t.endings = append(t.endings, [2]string{singular, plural})
	}
	for a := range strings.FieldsSeq(lists[2]) {
		t.acronyms[a] = true
	}
	return t
}

// separators separate words, apart from white space.
var separators = []string{"_", " ", ":", "-", "/"}

// lastWord returns the last word of a name. A word starts at an upper-case letter after
// other characters or after an acronym. An acronym is in upper case.
func (t *table) lastWord(name string) (last string) {
	name = strings.TrimSpace(name)
	if upper := strings.ToUpper(name); t.acronyms[upper] {
		return upper
	}
	var word strings.Builder
	end := func() {
		w := strings.TrimSpace(word.String())
		for _, s := range separators {
			w = strings.Trim(w, s)
		}
		if upper := strings.ToUpper(w); t.acronyms[upper] {
			w = upper
		}
		if w != "" {
			last = w
		}
		word.Reset()
	}
	var before rune
	for _, c := range name {
		upper := unicode.IsUpper(c)
		separates := unicode.IsSpace(c) || slices.Contains(separators, string(c))
		part := separates || unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsPunct(c) || c == '`'
		if separates || !part || upper && (!unicode.IsUpper(before) || t.acronyms[strings.ToUpper(word.String())]) {
			end()
		}
		if part {
			word.WriteRune(c)
		}
		before = c
	}
	end()
	return last
}
