package output

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
	"github.com/operon-dev/operon/internal/lazyregexp"
)

var yamlLine = lazyregexp.New(`^(?:yaml: )?(?:unmarshal errors:\n\s*)?line (\d+): `)

// yamlError returns the line of an error of the YAML decoder, or 0, and the message.
func yamlError(err error) (line int, message string) {
	message = err.Error()
	if m := yamlLine().FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	return line, DecodeMessage(strings.TrimPrefix(message, "yaml: "))
}

// streamError returns the index of the first invalid value in a stream, and a message. It
// decodes the stream with encoding/json, whose messages are clearer, up to an index or, for -1,
// to the end. If encoding/json accepts the values, the message is the text of err.
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
	jsonTypeError   = lazyregexp.New(`^cannot unmarshal (\w+)(?: \S+)? into Go (?:value|struct field \w*\.([\w.]+)) of type (\S+)`)
	yamlTypeError   = lazyregexp.New("^cannot unmarshal !!(\\w+)(?: `[^`]*`)? into (\\S+)")
	jsonSyntaxError = lazyregexp.New(`^(invalid character|unexpected (EOF|end))`)
)

// DecodeMessage returns the error message of a decoder for users: without the names of Go types.
func DecodeMessage(message string) string {
	message, _, _ = strings.Cut(strings.TrimPrefix(message, "json: "), "\n")
	if m := jsonTypeError().FindStringSubmatch(message); m != nil {
		return strings.TrimPrefix(m[2]+": ", ": ") + "expected " + sourceOf(m[3]) + ", got " + withArticle(m[1])
	}
	if m := yamlTypeError().FindStringSubmatch(message); m != nil {
		return "expected " + sourceOf(m[2]) + ", got " + withArticle(m[1])
	}
	if jsonSyntaxError().MatchString(message) {
		return "not valid JSON: " + message
	}
	return message
}

// typeNames maps the type names of decoders to JSON Schema's. All others are numbers.
var typeNames = map[string]string{
	"object": "object", "map": "object", "array": "array", "seq": "array", "string": "string", "str": "string",
	"bool": "boolean", "null": "null", "timestamp": "timestamp",
}

// withArticle returns the type name of a decoder for messages.
func withArticle(decoderType string) string {
	return jsonvalue.WithArticle(cmp.Or(typeNames[decoderType], "number"))
}

// sourceOf describes the values from which a Go type is decoded.
func sourceOf(goType string) string {
	switch {
	case goType == "uint8" || goType == "[]uint8":
		return "a base64 string"
	case strings.HasPrefix(goType, "[]"):
		return withArticle("array")
	case strings.HasPrefix(goType, "map[") || strings.Contains(goType, "."):
		return withArticle("object")
	}
	return withArticle(goType)
}

// typeOf describes the type of a decoded value for messages.
func typeOf(v any) string { return jsonvalue.WithArticle(jsonvalue.Type(v)) }
