package crdschema

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

// formats are examples of the formats that an API server checks, and of other common
// ones.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation
var formats = map[string]string{
	"bsonobjectid": "507f1f77bcf86cd799439011",
	"byte":         "ZXhhbXBsZQ==",
	"cidr":         "10.0.0.0/24",
	"creditcard":   "4111111111111111",
	"date":         "2030-01-01",
	"date-time":    "2030-01-01T00:00:00Z",
	"datetime":     "2030-01-01T00:00:00Z",
	"duration":     "1m",
	"email":        "somebody@example.org",
	"hexcolor":     "#336699",
	"hostname":     "example.org",
	"ip":           "10.0.0.1",
	"ipv4":         "10.0.0.1",
	"ipv6":         "2001:db8::1",
	"isbn":         "9783161484100",
	"isbn10":       "316148410X",
	"isbn13":       "9783161484100",
	"mac":          "02:00:00:00:00:01",
	"rgbcolor":     "rgb(51,102,153)",
	"ssn":          "078-05-1120",
	"uri":          "https://example.org",
	"uuid":         "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
	"uuid3":        "6fa459ea-ee8a-3ca4-894e-db77e160355e",
	"uuid4":        "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
	"uuid5":        "886313e1-3b8a-5372-9b90-0c9aee199e5d",
}

// words are texts that match common patterns.
var words = []string{"example", "other", "example.org", "1", "1m", "1Gi", "v1", "1.0.0", "v1.0.0", "*/5 * * * *", "https://example.org",
	"registry.example.org/image:v1", "10.0.0.1", "0 0 * * *", "EXAMPLE", "Example", "/example", "example/example",
	"12:00", "50%", "10.0.0.0/24",
	"somebody@example.org", "2030-01-01"}

// texts returns texts that the schema may allow. The first one differs from item to item,
// unless the schema has a known format.
func (s Schema) texts(n int) []any {
	format, _ := s["format"].(string)
	pattern, _ := s["pattern"].(string)
	var all []any
	if known := formats[format]; known != "" {
		if all = []any{known}; pattern == "" {
			return all
		}
	}
	tries := words
	if pattern != "" {
		tries = append(slices.Clone(words), shortestMatch(pattern, n))
	}
	for _, try := range tries {
		all = append(all, s.sized(numbered(try, n)), s.sized(try))
	}
	return all
}

// numbered makes the texts of the items of a list different.
func numbered(text string, n int) string {
	if n == 0 {
		return text
	}
	return fmt.Sprintf("%s-%d", text, n+1)
}

// longestText is the number of characters from which a sample is of no use. A longer one takes memory, and matching it
// with its pattern takes time with the square of its length.
const longestText = 4096

// sized repeats or cuts a text to the allowed length, if a sample can have it.
func (s Schema) sized(text string) string {
	runes := []rune(text)
	if bound, found := number(s["minLength"]); found && 0 < len(runes) && len(runes) < int(bound) && bound <= longestText {
		runes = []rune(strings.Repeat(text, int(bound)/len(runes)+1))[:int(bound)]
	}
	if bound, found := number(s["maxLength"]); found {
		runes = runes[:min(len(runes), max(0, int(bound)))]
	}
	return string(runes)
}

// shortestMatch returns a short text that matches a pattern. Texts of different n differ
// where the pattern leaves a choice.
func shortestMatch(pattern string, n int) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	var out strings.Builder
	writeShortest(&out, parsed, n)
	return out.String()
}

func writeShortest(out *strings.Builder, re *syntax.Regexp, n int) {
	times := 1
	switch re.Op {
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		out.WriteRune(character(re.Rune, n))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteRune('a')
	case syntax.OpStar, syntax.OpQuest:
		times = 0
	case syntax.OpRepeat:
		times = re.Min
	case syntax.OpAlternate:
		writeShortest(out, re.Sub[n%len(re.Sub)], n)
		return
	}
	for range times {
		for _, sub := range re.Sub {
			if out.Len() <= longestText {
				writeShortest(out, sub, n)
			}
		}
	}
}

// character returns a character of a class, a lower-case letter if possible. ranges holds
// the bounds of the ranges of the class.
func character(ranges []rune, n int) rune {
	for i := 0; i+1 < len(ranges); i += 2 {
		if low, high := ranges[i], ranges[i+1]; low <= 'z' && high >= 'a' {
			first := max(low, 'a')
			return min(first+rune(n), high, 'z')
		}
	}
	if len(ranges) < 2 {
		return 'a'
	}
	return min(ranges[0]+rune(n), ranges[1])
}
