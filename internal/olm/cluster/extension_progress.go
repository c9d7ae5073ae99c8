package cluster

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/jsonvalue"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The reasons of the condition Progressing of OLM v1 after which it goes on.
const (
	reasonRetrying  = "Retrying"
	reasonSucceeded = "Succeeded"
)

// unreadCatalog is in the message of a ClusterExtension until OLM v1 has read its catalog: one controller
// reads catalogs, another one installs, and the second can be first.
const unreadCatalog = "cache for catalog"

// served waits until OLM serves the catalog in an image.
func (t *task) served(ctx context.Context, image string) error {
	name := objectName(t.bundle.Package())
	var failed failure
	return t.until(ctx, func() (bool, string, error) {
		o, err := t.get(ctx, clusterCatalogs, "", name)
		if err != nil || o == nil {
			return false, "", err
		}
		if reason := failed.progress(o); reason != "" {
			return false, "", fault.Failed("give OLM access to the registry of the image: --catalog-image names one that it can pull", "OLM cannot read the catalog %s: %s", image, reason)
		}
		_, want, _ := strings.Cut(image, "@")
		resolved := jsonvalue.String(o.Object, "status", "resolvedSource", "image", "ref")
		ready := strings.HasSuffix(resolved, "@"+want) && condition(o.Object, "Serving")["status"] == "True"
		return ready, cmp.Or(failed.text, "OLM reads the catalog "+image), nil
	})
}

// extended waits until OLM has installed the bundle, and its pods run.
func (t *task) extended(ctx context.Context) error {
	var failed failure
	err := t.until(ctx, func() (bool, string, error) {
		o, err := t.extension(ctx)
		if err != nil || o == nil {
			return false, "", err
		}
		if reason := failed.progress(o); reason != "" {
			return false, "", fault.Failed(extensionHint(reason), "OLM cannot install %s: %s", t.bundle.Name(), reason)
		}
		if failed.text != "" || !isInstalled(o, t.bundle.Name()) {
			return false, cmp.Or(failed.text, "OLM installs "+t.bundle.Name()), nil
		}
		problem, err := t.podsRun(ctx)
		if err != nil {
			return false, "", err
		}
		done, reason, err := t.rolledOut(ctx)
		return done, cmp.Or(problem, reason), err
	})
	if err != nil {
		return t.diagnoseExtension(ctx, err)
	}
	return nil
}

// extension returns the ClusterExtension of the package, or nil.
func (t *task) extension(ctx context.Context) (*unstructured.Unstructured, error) {
	return t.get(ctx, clusterExtensions, "", t.bundle.Package())
}

// isInstalled reports whether OLM has installed a bundle for the current spec of a ClusterExtension.
func isInstalled(o *unstructured.Unstructured, bundle string) bool {
	c := condition(o.Object, "Installed")
	return c["status"] == "True" && jsonvalue.Int(c, "observedGeneration") == o.GetGeneration() && installedBundle(o) == bundle
}

// progress returns why an object does not reach its desired state, if OLM does not try again or has
// reported the same failure for some time. Before, f has the failure. A ClusterExtension that waits for its
// catalog never fails here: the timeout ends that wait.
func (f *failure) progress(o *unstructured.Unstructured) string {
	c := condition(o.Object, "Progressing")
	reason, message := jsonvalue.String(c, "reason"), oneLine(jsonvalue.String(c, "message"))
	current := jsonvalue.Int(c, "observedGeneration") == o.GetGeneration()
	if current && c["status"] == "False" && reason != reasonSucceeded {
		return message // such as Blocked: by something that a user must change
	}
	if !current || reason != reasonRetrying {
		message = ""
	}
	if f.persists(message) && !strings.Contains(message, unreadCatalog) {
		return message
	}
	return ""
}

func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ") }

// extensionHint returns what to do about a failure of OLM v1.
func extensionHint(message string) string {
	switch {
	case strings.Contains(message, "validating upgrade for CRD"), strings.Contains(message, "failed upgrade safety validation"):
		return "keep what existing objects need; to see all changes of the CRDs: operon bundle validate NEW --previous OLD"
	case strings.Contains(message, "is forbidden"), strings.Contains(message, "pre-authorization failed"):
		return "grant the permission to the ServiceAccount, or leave out --service-account"
	}
	return "see what OLM v1 supports: operon bundle validate BUNDLE --suite olmv1"
}

// diagnoseExtension notes the state of everything that takes part in the installation, and returns the
// error.
func (t *task) diagnoseExtension(ctx context.Context, failed error) error {
	return t.noteState(ctx, failed, func(ctx context.Context) []string {
		lines := t.conditions(ctx, clusterCatalogs, objectName(t.bundle.Package()))
		lines = append(lines, t.conditions(ctx, clusterExtensions, t.bundle.Package())...)
		return slices.DeleteFunc(lines, func(line string) bool { // the error says it already
			_, message, _ := strings.Cut(line, "): ")
			return message != "" && strings.Contains(failed.Error(), message)
		})
	})
}

// conditions describes the conditions of an object of OLM v1 that tell a failure.
func (t *task) conditions(ctx context.Context, r resource, name string) (lines []string) {
	o, err := t.get(ctx, r, "", name)
	if err != nil || o == nil {
		return nil
	}
	for _, name := range []string{"Progressing", "Installed", "Serving"} {
		if c := condition(o.Object, name); c != nil && (c["status"] != "True" || c["reason"] == reasonRetrying) {
			lines = append(lines, oneLine(conditionLine(r.kind+" "+o.GetName(), c)))
		}
	}
	return lines
}
