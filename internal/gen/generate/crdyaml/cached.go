package crdyaml

import (
	"encoding/json"
	"fmt"
	"strconv"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// raw writes JSON after the conversion to v1, which removes null and normalizes numbers
// and the order of keys.
func (w *writer) raw(key string, j *apiextensionsv1.JSON) {
	if j == nil || w.err != nil {
		return
	}
	w.cached(memoKey{w.indent, key, string(j.Raw), jsonValue}, func() (any, error) { return decode(*j) })
}

func (w *writer) enum(key string, list []apiextensionsv1.JSON) {
	if len(list) == 0 || w.err != nil {
		return
	}
	w.cached(memoKey{w.indent, key, fmt.Sprintf("%q", list), jsonValue}, func() (any, error) {
		values := make([]any, len(list))
		for i, j := range list {
			var err error
			if values[i], err = decode(j); err != nil {
				return nil, err
			}
		}
		return values, nil
	})
}

// decode decodes JSON as the conversion between CRD versions does.
func decode(j apiextensionsv1.JSON) (any, error) {
	var internal apiextensions.JSON
	err := apiextensionsv1.Convert_v1_JSON_To_apiextensions_JSON(&j, &internal, nil)
	return internal, err
}

// memoKey identifies a text that the library rendered.
type memoKey struct {
	indent int
	key    string
	value  string
	of     valueKind
}

type valueKind int

const (
	textValue valueKind = iota
	textsValue
	jsonValue
)

// cached writes an entry that the library renders, once per indentation and value. A nil
// value writes nothing.
func (w *writer) cached(k memoKey, value func() (any, error)) {
	if w.unstyled {
		w.plain(k.key, strconv.Quote(k.value))
		return
	}
	written, ok := w.memo[k]
	if !ok {
		var v any
		if v, w.err = value(); w.err != nil {
			return
		}
		if v != nil {
			if written, w.err = render(k.indent, k.key, v); w.err != nil {
				return
			}
		}
		if w.memo == nil {
			w.memo = map[memoKey]string{}
		}
		w.memo[k] = written
	}
	w.out = append(w.out, written...)
}

// render returns an entry at an indentation, as the library writes it. It nests the entry
// below as many keys as necessary, and then removes their lines.
func render(indent int, key string, value any) (string, error) {
	const outer = "a:\n"
	v := any(map[string]any{key: value})
	for range indent / 2 {
		v = map[string]any{"a": v}
	}
	written, err := yaml.Marshal(v)
	if err != nil {
		return "", err
	}
	rest := string(written)
	for i := 0; i < indent; i += 2 {
		rest = rest[i+len(outer):]
	}
	return rest, nil
}

// number writes v as encoding/json formats it and YAML reads it.
func (w *writer) number(key string, v *float64) {
	if v == nil || w.err != nil {
		return
	}
	if i := int64(*v); float64(i) == *v && -1<<53 < i && i < 1<<53 {
		w.integer(key, &i)
		return
	}
	j, err := json.Marshal(*v)
	if err != nil {
		w.err = err
		return
	}
	w.cached(memoKey{w.indent, key, string(j), jsonValue}, func() (any, error) { return *v, nil })
}
