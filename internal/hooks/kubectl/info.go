package kubectl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/hooks/kinds"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// release is the version that kubectl version prints for client and server.
const release = "v" + kinds.Release + ".0"

// version prints the versions of kubectl and of the server.
func (r *runner) version(_ context.Context, _ []string) error {
	if r.output != "" {
		of := func() map[string]any {
			major, minor, _ := strings.Cut(kinds.Release, ".")
			return map[string]any{"gitVersion": release, "major": major, "minor": minor}
		}
		o := map[string]any{"clientVersion": of()}
		if !r.client {
			o["serverVersion"] = of()
		}
		return r.printObject(&unstructured.Unstructured{Object: o})
	}
	r.printf("Client Version: %s\n", release)
	if !r.client {
		r.printf("Server Version: %s\n", release)
	}
	return nil
}

// currentContext fails as in a Pod, which has no kubeconfig file.
func (r *runner) currentContext(_ context.Context, _ []string) error {
	return errors.New("current-context is not set")
}

// viewConfig prints an empty kubeconfig, as in a Pod.
func (r *runner) viewConfig(_ context.Context, _ []string) error {
	if r.output != "" && r.output != "yaml" {
		return r.printObject(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Config", "preferences": map[string]any{},
			"clusters": nil, "contexts": nil, "users": nil, "current-context": ""}})
	}
	r.printf("apiVersion: v1\nclusters: null\ncontexts: null\ncurrent-context: \"\"\nkind: Config\nusers: null\n")
	return nil
}

// canI always answers yes, because a test has no authorization.
func (r *runner) canI(_ context.Context, args []string) error {
	if len(args) < 1 {
		return errors.New("you must specify two or three arguments: verb, resource, and optional resourceName")
	}
	if !r.quiet {
		r.printf("yes\n")
	}
	return nil
}

// apiVersions prints the API versions that the server has.
func (r *runner) apiVersions(_ context.Context, _ []string) error {
	var all []string
	for _, k := range r.api.Table().All() {
		if v := k.APIVersion(); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	r.printf("%s\n", strings.Join(all, "\n"))
	return nil
}

// apiResources prints the kinds that the server has.
func (r *runner) apiResources(_ context.Context, _ []string) error {
	rows := [][]string{{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"}}
	var names []string
	for _, k := range r.api.Table().Preferred() {
		if r.changed("api-group") && k.Group != r.apiGroup || r.changed("namespaced") && k.Namespaced != r.namespaced ||
			slices.ContainsFunc(r.verbs, func(v string) bool { return !k.Supports(v) }) {
			continue
		}
		rows = append(rows, []string{k.Resource, strings.Join(k.ShortNames, ","), k.APIVersion(), fmt.Sprint(k.Namespaced), k.Kind})
		names = append(names, k.String())
	}
	switch r.output {
	case "":
		return r.printRows(rows)
	case "name":
		r.printf("%s\n", strings.Join(names, "\n"))
		return nil
	}
	return fmt.Errorf("-o %s of kubectl api-resources is not available in hook tests", r.output)
}

// compact returns an object as JSON on one line, for error messages.
func compact(o *unstructured.Unstructured) string {
	text, err := o.MarshalJSON()
	if err != nil {
		return fmt.Sprint(o.Object)
	}
	return strings.TrimSpace(string(text))
}
