package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
)

func isRefusal(f finding.Finding) bool { return f.IsError() }

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\n\s*)?line (\d+): `)

// yamlFault is the line of an error of the YAML decoder, or 0, and what is wrong.
func yamlFault(err error) (line int, message string) {
	message = err.Error()
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	return line, Plainly(strings.TrimPrefix(message, "yaml: "))
}

// streamFault says what is wrong with the values of a stream up to an index, and which
// of them is, in the words of a decoder that speaks of JSON and T only, when that agrees
// that something is. An index of -1 is that of the last one.
func streamFault[T any](text []byte, index int, err error) (at int, message string) {
	dec := json.NewDecoder(bytes.NewReader(text))
	for i := 0; ; i++ {
		var v T
		strict := dec.Decode(&v)
		switch {
		case errors.Is(strict, io.EOF), strict == nil && i == index:
			return index, Plainly(err.Error())
		case strict != nil:
			return i, Plainly(strict.Error())
		}
	}
}

var (
	jsonMisfit = regexp.MustCompile(`^cannot unmarshal (\w+)(?: \S+)? into Go (?:value|struct field \w*\.([\w.]+)) of type (\S+)`)
	yamlMisfit = regexp.MustCompile("^cannot unmarshal !!(\\w+)(?: `[^`]*`)? into (\\S+)")
	noJSON     = regexp.MustCompile(`^(invalid character|unexpected (EOF|end))`)
)

// Plainly takes the names of Go out of an error of a decoder.
func Plainly(message string) string {
	message, _, _ = strings.Cut(strings.TrimPrefix(message, "json: "), "\n")
	if m := jsonMisfit.FindStringSubmatch(message); m != nil {
		return strings.TrimPrefix(m[2]+": ", ": ") + decoded(m[1]) + " where " + belongs(m[3]) + " belongs"
	}
	if m := yamlMisfit.FindStringSubmatch(message); m != nil {
		return decoded(m[1]) + " where " + belongs(m[2]) + " belongs"
	}
	if noJSON.MatchString(message) {
		return "this is no JSON: " + message
	}
	return message
}

// words are those for kinds of values that decoders name otherwise.
var words = map[string]string{
	"object": "object", "map": "object", "array": "list", "seq": "list", "string": "text", "str": "text", "bool": "boolean", "null": "empty value",
}

// decoded names a kind of value in the words of a decoder.
func decoded(kind string) string { return article(cmp.Or(words[kind], "number")) }

// belongs names what a type of Go is decoded from.
func belongs(kind string) string {
	switch {
	case kind == "uint8" || kind == "[]uint8":
		return "a text in base64"
	case strings.HasPrefix(kind, "[]"):
		return decoded("array")
	case strings.HasPrefix(kind, "map[") || strings.Contains(kind, "."):
		return decoded("object")
	}
	return decoded(kind)
}

// kindOf names the type of a decoded value.
func kindOf(v any) string {
	switch x := v.(type) {
	case map[string]any, map[any]any:
		return "object"
	case []any:
		return "list"
	case string:
		return "text"
	case bool:
		return "boolean"
	case int, int64, uint64:
		return "integer"
	case float64:
		if x == math.Trunc(x) {
			return "integer"
		}
		return "number"
	case nil:
		return "empty value"
	}
	return "time"
}
