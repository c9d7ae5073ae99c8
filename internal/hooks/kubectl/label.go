package kubectl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// label and annotate set key=value, and remove the key of key-.
func (r *runner) label(ctx context.Context, args []string) error {
	return r.setMetadata(ctx, args, "labels", "labeled")
}
func (r *runner) annotate(ctx context.Context, args []string) error {
	return r.setMetadata(ctx, args, "annotations", "annotated")
}

func (r *runner) setMetadata(ctx context.Context, args []string, field, done string) error {
	if r.listOnly || r.resourceVersion != "" {
		return fmt.Errorf("--list and --resource-version of kubectl %s are not available in hook tests", r.command)
	}
	isChange := func(arg string) bool {
		return strings.Contains(arg, "=") || strings.HasSuffix(arg, "-") && len(arg) > 1
	}
	first := slices.IndexFunc(args, isChange)
	if first < 0 {
		return fmt.Errorf("at least one %s update is required", strings.TrimSuffix(field, "s"))
	}
	set, removed := map[string]string{}, []string{}
	for _, arg := range args[first:] {
		key, value, sets := strings.Cut(arg, "=")
		switch {
		case sets:
			set[key] = value
		case isChange(arg):
			removed = append(removed, strings.TrimSuffix(arg, "-"))
		default:
			return errors.New("all resources must be specified before " + strings.TrimSuffix(field, "s") + " changes: " + arg)
		}
	}
	targets, err := r.targets(ctx, args[:first], true)
	if err != nil {
		return err
	}
	return forEach(targets, func(t target) error { return r.setMetadataOf(ctx, t, field, done, set, removed) })
}

func (r *runner) setMetadataOf(ctx context.Context, t target, field, done string, set map[string]string, removed []string) error {
	o, err := r.api.Get(ctx, t.kind, t.namespace, t.name)
	if err != nil {
		return err
	}
	now, _, _ := unstructured.NestedStringMap(o.Object, "metadata", field)
	change := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if old, exists := now[key]; exists && !r.overwrite && old != set[key] {
			if field == "labels" {
				return fmt.Errorf("'%s' already has a value (%s), and --overwrite is false", key, old)
			}
			return fmt.Errorf("--overwrite is false but found the following declared annotation(s): '%s' already has a value (%s)", key, old)
		}
		change[key] = set[key]
	}
	found := 0
	for _, key := range removed {
		if _, exists := now[key]; exists {
			change[key] = nil
			found++
		} else if field == "labels" {
			r.printf("label %q not found.\n", key)
		}
	}
	if field == "labels" && found > 0 && len(set) == 0 {
		done = "unlabeled"
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{field: change}})
	if err != nil {
		return err
	}
	after, err := r.api.Patch(ctx, t.kind, t.namespace, t.name, types.MergePatchType, body, "")
	if err != nil {
		return err
	}
	if field == "labels" && after.GetResourceVersion() == o.GetResourceVersion() {
		done = "not labeled"
	}
	return r.report(t, after, done, false)
}
