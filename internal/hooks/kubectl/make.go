package kubectl

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// make creates an object that arguments describe.
func (r *run) make(kind string, args []string, fields map[string]any) error {
	if len(args) != 1 {
		return fmt.Errorf("exactly one NAME is required, got %d", len(args))
	}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": args[0]}}}
	maps.Copy(o.Object, fields)
	k, err := r.api.Table().FindObject(o.GroupVersionKind())
	if err != nil {
		return err
	}
	t := target{kind: k, name: args[0], object: o}
	dry, err := r.dry()
	if err != nil {
		return err
	}
	if k.Namespaced && (!dry || r.namespace != "") {
		t.namespace = r.inNamespace()
		o.SetNamespace(t.namespace)
	}
	if err := r.createOne(t); err != nil && kind != "Namespace" {
		colon := ":"
		if kind == "Secret" {
			colon = ""
		}
		return fmt.Errorf("failed to create %s%s %v", strings.ToLower(kind), colon, err) //nolint:errorlint // kubectl takes it for an error of its own
	} else {
		return err
	}
}

func (r *run) createNamespace(args []string) error { return r.make("Namespace", args, nil) }

func (r *run) createServiceAccount(args []string) error {
	return r.make("ServiceAccount", args, nil)
}

func (r *run) createConfigMap(args []string) error {
	values, err := r.values()
	if err != nil {
		return err
	}
	texts, others := map[string]any{}, map[string]any{}
	for name, content := range values {
		if utf8.Valid(content) {
			texts[name] = string(content)
		} else {
			others[name] = base64.StdEncoding.EncodeToString(content)
		}
	}
	return r.make("ConfigMap", args, without(map[string]any{"data": texts, "binaryData": others}))
}

func (r *run) createSecret(args []string) error {
	values, err := r.values()
	if err != nil {
		return err
	}
	fields := map[string]any{"data": encoded(values)}
	if r.secretType != "" {
		fields["type"] = r.secretType
	}
	return r.make("Secret", args, without(fields))
}

func (r *run) createTLS(args []string) error {
	if r.cert == "" || r.key == "" {
		return errors.New("both --cert and --key must be specified")
	}
	cert, err := r.readFile(r.cert)
	if err != nil {
		return err
	}
	key, err := r.readFile(r.key)
	if err != nil {
		return err
	}
	return r.make("Secret", args, map[string]any{"data": encoded(map[string][]byte{"tls.crt": cert, "tls.key": key}), "type": "kubernetes.io/tls"})
}

func encoded(values map[string][]byte) map[string]any {
	data := map[string]any{}
	for name, content := range values {
		data[name] = base64.StdEncoding.EncodeToString(content)
	}
	return data
}

// without takes empty maps away.
func without(fields map[string]any) map[string]any {
	for name, v := range fields {
		if m, isMap := v.(map[string]any); isMap && len(m) == 0 {
			delete(fields, name)
		}
	}
	return fields
}

// values are what --from-literal, --from-file and --from-env-file say.
func (r *run) values() (map[string][]byte, error) {
	if len(r.envFiles) > 0 && len(r.literals)+len(r.sources) > 0 {
		return nil, errors.New("from-env-file cannot be combined with from-file or from-literal")
	}
	values := map[string][]byte{}
	add := func(name string, content []byte) error {
		if _, twice := values[name]; twice {
			return fmt.Errorf("cannot add key %s, another key by that name already exists", name)
		}
		values[name] = content
		return nil
	}
	for _, literal := range r.literals {
		name, value, ok := strings.Cut(literal, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("invalid literal source %s, expected key=value", literal)
		}
		if err := add(name, []byte(value)); err != nil {
			return nil, err
		}
	}
	for _, source := range r.sources {
		if err := r.fromFile(source, add); err != nil {
			return nil, err
		}
	}
	for _, file := range r.envFiles {
		content, err := r.readFile(file)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(content)) {
			line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t")
			name, value, ok := strings.Cut(line, "=")
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !ok {
				return nil, fmt.Errorf("operon's kubectl takes no variables from the environment: %s of %s has no =", name, file)
			}
			if err := add(name, []byte(value)); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// fromFile adds a file by its name or another, or the files of a folder.
func (r *run) fromFile(source string, add func(string, []byte) error) error {
	name, file, renamed := strings.Cut(source, "=")
	if !renamed {
		name, file = filepath.Base(source), source
	}
	if content, err := r.readFile(file); err == nil {
		return add(name, content)
	}
	info, err := os.Stat(r.path(file))
	if err != nil {
		return fmt.Errorf("error reading %s: no such file or directory", file)
	}
	if !info.IsDir() {
		return fmt.Errorf("error reading %s: no such file or directory", file)
	}
	if renamed {
		return errors.New("cannot give a key name for a directory path")
	}
	entries, err := os.ReadDir(r.path(file))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(r.path(file), e.Name()))
		if err != nil {
			return err
		}
		if err := add(e.Name(), content); err != nil {
			return err
		}
	}
	return nil
}
