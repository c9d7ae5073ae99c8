package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/hook/config"
)

func isRefusal(f config.Finding) bool { return f.Refused }

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\n\s*)?line (\d+): `)

// yamlFault is the line of an error of the YAML decoder, or 0, and what is wrong.
func yamlFault(err error) (line int, message string) {
	message = err.Error()
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	message, _, _ = strings.Cut(strings.TrimPrefix(message, "yaml: "), "\n")
	return line, message
}

// streamFault says what is wrong with the values of a stream up to an index, in the
// words of a decoder that speaks of JSON and T only, when that agrees that something
// is. An index of -1 is that of the last one.
func streamFault[T any](text []byte, index int, err error) string {
	dec := json.NewDecoder(bytes.NewReader(text))
	for i := 0; ; i++ {
		var v T
		strict := dec.Decode(&v)
		switch {
		case errors.Is(strict, io.EOF), strict == nil && i == index:
			return plainly(err.Error())
		case strict != nil:
			return plainly(strict.Error())
		}
	}
}

// plainly takes the names of Go out of an error of a decoder.
func plainly(message string) string {
	message, _, _ = strings.Cut(strings.TrimPrefix(message, "json: "), "\n")
	if what, field, found := strings.Cut(message, " into Go struct field "); found {
		field, _, _ = strings.Cut(field, " of type")
		_, field, _ = strings.Cut(field, ".")
		return fmt.Sprintf("%s into %s", what, field)
	}
	return message
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
