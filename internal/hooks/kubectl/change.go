package kubectl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	kyaml "sigs.k8s.io/yaml"
)

// patchTypes are the values of --type.
var patchTypes = map[string]types.PatchType{"": types.StrategicMergePatchType, "strategic": types.StrategicMergePatchType,
	"merge": types.MergePatchType, "json": types.JSONPatchType}

// patch patches objects.
func (r *run) patch(args []string) error {
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
	targets, err := r.targets(args, false)
	if err != nil {
		return err
	}
	return each(targets, func(t target) error { return r.patchOne(t, how, body, "patched") })
}

// patchOne patches an object, and says so.
func (r *run) patchOne(t target, how types.PatchType, body []byte, done string) error {
	before, err := r.api.Get(r, t.kind, t.namespace, t.name)
	if err != nil {
		return err
	}
	if dry, err := r.dry(); err != nil || dry {
		return errors.Join(err, fmt.Errorf("operon's kubectl does not know --dry-run of kubectl %s", r.command))
	}
	o, err := r.api.Patch(r, t.kind, t.namespace, t.name, how, body, r.subresource)
	if apierrors.IsUnsupportedMediaType(err) {
		return fmt.Errorf("%s is not supported by %s: %v", how, t.kind.GVK(), err) //nolint:errorlint // kubectl takes it for an error of its own
	}
	if err != nil {
		return err
	}
	if o.GetResourceVersion() == before.GetResourceVersion() && done == "patched" {
		done = "patched (no change)"
	}
	return r.say(t, o, done, false)
}

// label and annotate set what they say, and take away what ends with a dash.
func (r *run) label(args []string) error    { return r.mark(args, "labels", "labeled") }
func (r *run) annotate(args []string) error { return r.mark(args, "annotations", "annotated") }

func (r *run) mark(args []string, field, done string) error {
	if r.listOnly || r.resVersion != "" {
		return fmt.Errorf("operon's kubectl knows neither --list nor --resource-version of kubectl %s", r.command)
	}
	isChange := func(arg string) bool {
		return strings.Contains(arg, "=") || strings.HasSuffix(arg, "-") && len(arg) > 1
	}
	first := slices.IndexFunc(args, isChange)
	if first < 0 {
		return fmt.Errorf("at least one %s update is required", strings.TrimSuffix(field, "s"))
	}
	set, gone := map[string]string{}, []string{}
	for _, arg := range args[first:] {
		key, value, sets := strings.Cut(arg, "=")
		switch {
		case sets:
			set[key] = value
		case isChange(arg):
			gone = append(gone, strings.TrimSuffix(arg, "-"))
		default:
			return errors.New("all resources must be specified before " + strings.TrimSuffix(field, "s") + " changes: " + arg)
		}
	}
	targets, err := r.targets(args[:first], true)
	if err != nil {
		return err
	}
	return each(targets, func(t target) error { return r.markOne(t, field, done, set, gone) })
}

func (r *run) markOne(t target, field, done string, set map[string]string, gone []string) error {
	o, err := r.api.Get(r, t.kind, t.namespace, t.name)
	if err != nil {
		return err
	}
	now, _, _ := unstructured.NestedStringMap(o.Object, "metadata", field)
	change := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if old, there := now[key]; there && !r.overwrite && old != set[key] {
			if field == "labels" {
				return fmt.Errorf("'%s' already has a value (%s), and --overwrite is false", key, old)
			}
			return fmt.Errorf("--overwrite is false but found the following declared annotation(s): '%s' already has a value (%s)", key, old)
		}
		change[key] = set[key]
	}
	removed := 0
	for _, key := range gone {
		if _, there := now[key]; there {
			change[key] = nil
			removed++
		} else if field == "labels" {
			r.printf("label %q not found.\n", key)
		}
	}
	if field == "labels" && removed > 0 && len(set) == 0 {
		done = "unlabeled"
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{field: change}})
	if err != nil {
		return err
	}
	after, err := r.api.Patch(r, t.kind, t.namespace, t.name, types.MergePatchType, body, "")
	if err != nil {
		return err
	}
	if field == "labels" && after.GetResourceVersion() == o.GetResourceVersion() {
		done = "not labeled"
	}
	return r.say(t, after, done, false)
}

// scale sets the number of replicas.
func (r *run) scale(args []string) error {
	if r.replicas < 0 {
		return errors.New("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0") //nolint:staticcheck // kubectl's words
	}
	if r.resVersion != "" {
		return errors.New("operon's kubectl does not know --resource-version of kubectl scale")
	}
	targets, err := r.targets(args, true)
	if err != nil {
		return err
	}
	return each(targets, func(t target) error {
		if !t.kind.Has("scale") {
			return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"}}
		}
		o, err := r.api.Get(r, t.kind, t.namespace, t.name)
		if err != nil {
			return err
		}
		if is, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas"); r.current >= 0 && is != int64(r.current) {
			return fmt.Errorf("Expected replicas to be %d, was %d", r.current, is) //nolint:staticcheck // kubectl's words
		}
		body := fmt.Sprintf(`{"spec":{"replicas":%d}}`, r.replicas)
		if o, err = r.api.Patch(r, t.kind, t.namespace, t.name, types.MergePatchType, []byte(body), ""); err != nil {
			return err
		}
		return r.say(t, o, "scaled", false)
	})
}

// restart sets the annotation by which a controller replaces Pods.
func (r *run) restart(args []string) error {
	targets, err := r.targets(args, true)
	if err != nil {
		return err
	}
	return each(targets, func(t target) error {
		if t.kind.Group != "apps" || !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, t.kind.Kind) {
			return fmt.Errorf("%s %q restarting is not supported", t.kind, t.name)
		}
		o, err := r.api.Get(r, t.kind, t.namespace, t.name)
		if err != nil {
			return err
		}
		// Time stands still here, and each restart must differ from the last.
		before, _, _ := unstructured.NestedString(o.Object, "spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt")
		body := fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":%q}}}}}`, after(before))
		if o, err = r.api.Patch(r, t.kind, t.namespace, t.name, types.MergePatchType, []byte(body), ""); err != nil {
			return err
		}
		return r.say(t, o, "restarted", false)
	})
}

// after is the second behind a time, or the first.
func after(stamp string) string {
	n := 0
	if len(stamp) == len("2020-01-01T00:00:00Z") {
		n, _ = strconv.Atoi(stamp[17:19])
	}
	return fmt.Sprintf("2020-01-01T00:00:%02dZ", (n+1)%60)
}

// wait looks whether a condition is met. Nothing happens while it waits, so it does
// not.
func (r *run) wait(args []string) error {
	if r.condition == "" {
		return errors.New("must specify --for")
	}
	targets, err := r.targets(args, true)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return errors.New("no matching resources found")
	}
	return each(targets, func(t target) error {
		o, err := r.api.Get(r, t.kind, t.namespace, t.name)
		if err != nil && (r.condition != "delete" || !apierrors.IsNotFound(err)) {
			return err
		}
		if o == nil {
			return nil // of what is gone, nothing is said
		}
		met, err := meets(o, r.condition)
		if err != nil {
			return err
		}
		if !met {
			return fmt.Errorf("timed out waiting for the condition on %s/%s", t.kind, t.name)
		}
		return r.say(t, o, "condition met", false)
	})
}

// meets reports whether an object, nil when it is gone, is as --for says.
func meets(o *unstructured.Unstructured, condition string) (bool, error) {
	form, argument, _ := strings.Cut(condition, "=")
	switch form {
	case "delete":
		return o == nil, nil
	case "create":
		return o != nil, nil
	case "condition":
		name, value, valued := strings.Cut(argument, "=")
		if !valued {
			value = "true"
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		return slices.ContainsFunc(conditions, func(v any) bool {
			c, _ := v.(map[string]any)
			return strings.EqualFold(fmt.Sprint(c["type"]), name) && strings.EqualFold(fmt.Sprint(c["status"]), value)
		}), nil
	case "jsonpath":
		path, value, valued := strings.Cut(argument, "=")
		p, err := relaxed(strings.Trim(path, "'"))
		if err != nil {
			return false, err
		}
		found, err := evaluate(p, o.Object)
		return err == nil && found != "" && (!valued || found == value), err
	}
	return false, fmt.Errorf("unrecognized condition: %q", condition)
}
