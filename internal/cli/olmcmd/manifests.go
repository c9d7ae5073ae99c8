package olmcmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/cli/command/images"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
	"github.com/operon-dev/operon/internal/kustomize"
	"github.com/operon-dev/operon/internal/olm/cluster"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// newManifests returns a command that works on the manifests of OLM.
func newManifests(
	a *command.App, name, short, long string,
	do func(*cluster.Client, context.Context, []unstructured.Unstructured) (bool, error), done string,
) *cobra.Command {
	var f clusterFlags
	cmd := &cobra.Command{
		Use: name + " SOURCE", Short: short, Long: long,
		Example: "  operon olm " + name + " olm-manifests",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.Usage("name a folder, a file or a URL", "%s needs one source of manifests, got %d", cmd.CommandPath(), len(args))
			}
			ctx, cancel, err := f.limit(cmd.Context())
			if err != nil {
				return err
			}
			defer cancel()
			manifests, err := readManifests(ctx, a, args[0])
			if err != nil {
				return err
			}
			if err := cluster.CheckManifests(manifests); err != nil {
				return err
			}
			c, err := f.connect(ctx, a)
			if err != nil {
				return err
			}
			changed, err := do(c.Client, ctx, manifests)
			if strings.Contains(done, "%") {
				return report(a, changed, err, done, args[0])
			}
			return report(a, changed, err, "%s", done)
		},
	}
	f.bind(a, cmd, 2*time.Minute)
	return cmd
}

// readManifests reads the objects at a place: a folder with all its subfolders, a file, an
// URL, or "-" for stdin.
func readManifests(ctx context.Context, a *command.App, place string) (all []unstructured.Unstructured, err error) {
	switch {
	case place == "-":
		all, err = images.Await(ctx, func() ([]unstructured.Unstructured, error) { return decodeManifests("stdin", a.In) })
	case strings.HasPrefix(place, "http://"), strings.HasPrefix(place, "https://"):
		all, err = download(ctx, place)
	default:
		all, err = readFiles(a.Path(place), place)
	}
	if err == nil && len(all) == 0 {
		err = fault.Usage("name a folder, a file or a URL with manifests", "%s has no objects", place)
	}
	return all, err
}

func readFiles(root, shown string) (all []unstructured.Unstructured, err error) {
	given := root
	if to, err := filepath.EvalSymlinks(root); err == nil { // WalkDir does not follow it
		root = to
	}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == given {
			return fault.Usage("name a folder, a file or a URL", "%s does not exist", shown)
		}
		isManifest := name == root || slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
		if err != nil || d.IsDir() || !isManifest || d.Name() == "kustomization.yaml" {
			return err
		}
		src, err := input.ReadFile(name, input.Data)
		if err != nil {
			return fault.Usage("name a folder, a file or a URL", "%s: %v", filepath.ToSlash(shown+strings.TrimPrefix(name, root)), fault.Reason(err))
		}
		objects, err := decodeManifests(filepath.ToSlash(shown+strings.TrimPrefix(name, root)), bytes.NewReader(src))
		if folder := filepath.Dir(name); err != nil && kustomize.HasKustomization(folder) {
			folder = filepath.ToSlash(shown + strings.TrimPrefix(folder, root))
			err = fault.Usage("build it: operon kustomize build "+folder+" -o FILE, and name FILE", "%s is a kustomization, and not all of its files are manifests", folder)
		}
		all = append(all, objects...)
		return err
	})
	return all, err
}

func download(ctx context.Context, url string) ([]unstructured.Unstructured, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fault.Usage("start it with https:// or http://", "%s is not a URL: %v", url, err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = 30 * time.Second
	response, err := (&http.Client{Transport: input.Steady(transport)}).Do(request)
	if err != nil {
		return nil, downloadError(ctx, url, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fault.Failed("check the URL", "%s: the server answers %s", url, response.Status)
	}
	content, err := input.ReadAll(response.Body, input.Data)
	switch {
	case errors.As(err, new(input.TooLarge)):
		return nil, fault.Failed("name the manifests of a release of OLM", "%s is %v", url, err)
	case err != nil:
		return nil, downloadError(ctx, url, err)
	}
	return decodeManifests(url, bytes.NewReader(content))
}

// downloadError explains why a download failed.
func downloadError(ctx context.Context, url string, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.Failed("allow more time with --timeout", "download %s: %v", url, context.Cause(ctx))
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fault.Failed("download it by other means, and name the file", "%v", err)
}

// decodeManifests returns the objects in a stream of YAML or JSON. Lists are split.
func decodeManifests(name string, r io.Reader) (all []unstructured.Unstructured, err error) {
	for decoder := yaml.NewYAMLOrJSONDecoder(r, 4096); ; {
		var o unstructured.Unstructured
		err := decoder.Decode(&o.Object)
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, notManifest(name, err)
		case len(o.Object) == 0:
			continue
		case o.IsList():
			list, err := o.ToList()
			if err != nil {
				return nil, notManifest(name, err)
			}
			all = append(all, list.Items...)
			continue
		case o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetName() == "":
			return nil, fault.Usage("name a folder or file that has only manifests", "%s has an object without apiVersion, kind or name", name)
		}
		all = append(all, o)
	}
}

// notManifest is the error for a document that is no object.
func notManifest(name string, err error) error {
	const hint = "name a folder or file that has only manifests"
	if strings.Contains(err.Error(), "cannot unmarshal") { // the decoder hides the type of the error
		return fault.Usage(hint, "%s has a document that is not an object", name)
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return fault.Usage(hint, "%s: %s", name, strings.TrimPrefix(line, "error converting YAML to JSON: "))
}
