package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

func isRefusal(f finding.Finding) bool { return f.IsError() }

var yamlLine = lazyregexp.New(`^(?:yaml: )?(?:unmarshal errors:\n\s*)?line (\d+): `)

// yamlError returns the line of an error of the YAML decoder, or 0, and its message.
func yamlError(err error) (line int, message string) {
	message = err.Error()
	if m := yamlLine().FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	return line, DecodeMessage(strings.TrimPrefix(message, "yaml: "))
}

// streamError returns the index and the message of the first invalid value in a stream, up
// to an index, or to the end for -1. encoding/json finds them, because its messages are
// clearer. Where it finds nothing, the message is that of err.
func streamError[T any](text []byte, index int, err error) (at int, message string) {
	dec := json.NewDecoder(bytes.NewReader(text))
	for i := 0; ; i++ {
		var v T
		strict := dec.Decode(&v)
		switch {
		case errors.Is(strict, io.EOF), strict == nil && i == index:
			return index, DecodeMessage(err.Error())
		case strict != nil:
			return i, DecodeMessage(strict.Error())
		}
	}
}

var (
	jsonMisfit = lazyregexp.New(`^cannot unmarshal (\w+)(?: \S+)? into Go (?:value|struct field \w*\.([\w.]+)) of type (\S+)`)
	yamlMisfit = lazyregexp.New("^cannot unmarshal !!(\\w+)(?: `[^`]*`)? into (\\S+)")
	noJSON     = lazyregexp.New(`^(invalid character|unexpected (EOF|end))`)
)

// DecodeMessage returns the message of a decoder without names of Go types.
func DecodeMessage(message string) string {
	message, _, _ = strings.Cut(strings.TrimPrefix(message, "json: "), "\n")
	if m := jsonMisfit().FindStringSubmatch(message); m != nil {
		return strings.TrimPrefix(m[2]+": ", ": ") + "expected " + expected(m[3]) + ", got " + decoded(m[1])
	}
	if m := yamlMisfit().FindStringSubmatch(message); m != nil {
		return "expected " + expected(m[2]) + ", got " + decoded(m[1])
	}
	if noJSON().MatchString(message) {
		return "not valid JSON: " + message
	}
	return message
}

// typeNames maps the type names of decoders to those of messages.
var typeNames = map[string]string{
	"object": "object", "map": "object", "array": "list", "seq": "list", "string": "string", "str": "string", "bool": "boolean", "null": "null value",
}

// decoded returns the name of a decoder's type with its article.
func decoded(kind string) string { return article(cmp.Or(typeNames[kind], "number")) }

// expected returns the name of the value that a Go type is decoded from.
func expected(kind string) string {
	switch {
	case kind == "uint8" || kind == "[]uint8":
		return "a base64 string"
	case strings.HasPrefix(kind, "[]"):
		return decoded("array")
	case strings.HasPrefix(kind, "map[") || strings.Contains(kind, "."):
		return decoded("object")
	}
	return decoded(kind)
}

// typeOf returns the type name of a decoded value.
func typeOf(v any) string {
	switch x := v.(type) {
	case map[string]any, map[any]any:
		return "object"
	case []any:
		return "list"
	case string:
		return "string"
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
		return "null value"
	}
	return "time"
}
