package kubectl

import (
	"context"
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

// createObject creates an object with the name in args.
func (r *runner) createObject(ctx context.Context, kind string, args []string, fields map[string]any) error {
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
	dry, err := r.isDryRun()
	if err != nil {
		return err
	}
	if k.Namespaced && (!dry || r.namespace != "") {
		t.namespace = r.currentNamespace()
		o.SetNamespace(t.namespace)
	}
	if err := r.createOne(ctx, t); err != nil && kind != "Namespace" {
		colon := ":"
		if kind == "Secret" {
			colon = ""
		}
		return fmt.Errorf("failed to create %s%s %v", strings.ToLower(kind), colon, err) //nolint:errorlint // kubectl does not print it as an error of the server
	} else {
		return err
	}
}

func (r *runner) createNamespace(ctx context.Context, args []string) error {
	return r.createObject(ctx, "Namespace", args, nil)
}

func (r *runner) createServiceAccount(ctx context.Context, args []string) error {
	return r.createObject(ctx, "ServiceAccount", args, nil)
}

func (r *runner) createConfigMap(ctx context.Context, args []string) error {
	values, err := r.sourceValues()
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
	return r.createObject(ctx, "ConfigMap", args, nonEmpty(map[string]any{"data": texts, "binaryData": others}))
}

func (r *runner) createSecret(ctx context.Context, args []string) error {
	values, err := r.sourceValues()
	if err != nil {
		return err
	}
	fields := map[string]any{"data": encoded(values)}
	if r.secretType != "" {
		fields["type"] = r.secretType
	}
	return r.createObject(ctx, "Secret", args, nonEmpty(fields))
}

func (r *runner) createTLS(ctx context.Context, args []string) error {
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
	return r.createObject(ctx, "Secret", args, map[string]any{"data": encoded(map[string][]byte{"tls.crt": cert, "tls.key": key}), "type": "kubernetes.io/tls"})
}

func encoded(values map[string][]byte) map[string]any {
	data := map[string]any{}
	for name, content := range values {
		data[name] = base64.StdEncoding.EncodeToString(content)
	}
	return data
}

// nonEmpty removes empty maps.
func nonEmpty(fields map[string]any) map[string]any {
	for name, v := range fields {
		if m, isMap := v.(map[string]any); isMap && len(m) == 0 {
			delete(fields, name)
		}
	}
	return fields
}

// sourceValues returns the values of --from-literal, --from-file and --from-env-file.
func (r *runner) sourceValues() (map[string][]byte, error) {
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
		if err := r.addFile(source, add); err != nil {
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
				return nil, fmt.Errorf("kubectl reads no environment variables in hook tests: %s in %s has no =", name, file)
			}
			if err := add(name, []byte(value)); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// addFile adds a file under its own or a given name, or all files of a folder.
func (r *runner) addFile(source string, add func(string, []byte) error) error {
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
