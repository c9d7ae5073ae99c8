package kubectl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	kyaml "sigs.k8s.io/yaml"
)

// patchTypes are the values of --type.
var patchTypes = map[string]types.PatchType{"": types.StrategicMergePatchType, "strategic": types.StrategicMergePatchType,
	"merge": types.MergePatchType, "json": types.JSONPatchType}

// patch patches objects.
func (r *runner) patch(ctx context.Context, args []string) error {
	how, known := patchTypes[strings.ToLower(r.patchType)]
	if !known {
		return fmt.Errorf("--type must be one of [json merge strategic], not %q", r.patchType)
	}
	text := r.patchText
	if r.patchFile != "" {
		content, err := r.readFile(r.patchFile)
		if err != nil {
			return fmt.Errorf("unable to read patch file: %w", err)
		}
		text = string(content)
	}
	if text == "" {
		return errors.New("must specify --patch or --patch-file containing the contents of the patch")
	}
	body, err := kyaml.YAMLToJSON([]byte(text))
	if err != nil {
		return fmt.Errorf("unable to parse %q: %w", text, err)
	}
	targets, err := r.targets(ctx, args, false)
	if err != nil {
		return err
	}
	return forEach(targets, func(t target) error { return r.patchOne(ctx, t, how, body, "patched") })
}

// patchOne patches an object and reports it.
func (r *runner) patchOne(ctx context.Context, t target, how types.PatchType, body []byte, done string) error {
	before, err := r.api.Get(ctx, t.kind, t.namespace, t.name)
	if err != nil {
		return err
	}
	if dry, err := r.isDryRun(); err != nil || dry {
		return errors.Join(err, fmt.Errorf("--dry-run of kubectl %s is not available in hook tests", r.command))
	}
	o, err := r.api.Patch(ctx, t.kind, t.namespace, t.name, how, body, r.subresource)
	if apierrors.IsUnsupportedMediaType(err) {
		return fmt.Errorf("%s is not supported by %s: %v", how, t.kind.GVK(), err) //nolint:errorlint // kubectl does not print it as an error of the server
	}
	if err != nil {
		return err
	}
	if o.GetResourceVersion() == before.GetResourceVersion() && done == "patched" {
		done = "patched (no change)"
	}
	return r.report(t, o, done, false)
}
