package golang

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/plugin"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/scaffold"
)

const webhookFile = "internal/webhook/v1/frigate_webhook.go"

// createWebhook records the webhooks of r in the project, in addition to the recorded
// ones, and returns the event.
func (x tester) createWebhook(r project.Resource, asked project.Webhooks) plugin.Event {
	x.Helper()
	asked.WebhookVersion = "v1"
	all := asked
	if old := x.cfg.Find(r.Group, r.Version, r.Kind); old != nil {
		r = *old
		if h := old.Webhooks; h != nil {
			all.Defaulting, all.Validation = all.Defaulting || h.Defaulting, all.Validation || h.Validation
			all.Conversion = all.Conversion || h.Conversion
			all.DefaultingPath += h.DefaultingPath
			all.ValidationPath += h.ValidationPath
		}
	}
	r.Webhooks = &all
	x.cfg.Put(r)
	r.Webhooks = &asked
	return plugin.Event{Type: plugin.CreateWebhook, Resource: &r}
}

// addWebhook plans and applies webhooks and updates PROJECT, like the command.
func (x tester) addWebhook(r project.Resource, asked project.Webhooks) (plugin.Event, *scaffold.Plan) {
	x.Helper()
	e := x.createWebhook(r, asked)
	p := x.apply(e)
	x.record()
	return e, p
}

// replay returns the events of a repeated init.
func (x tester) replay() []plugin.Event {
	events := []plugin.Event{{Type: plugin.Init}}
	for _, kind := range []plugin.EventType{plugin.CreateAPI, plugin.CreateWebhook} {
		for _, r := range x.cfg.Resources {
			if kind == plugin.CreateWebhook && r.Webhooks != nil || kind == plugin.CreateAPI && (r.API != nil || len(r.ControllerNames()) > 0) {
				events = append(events, plugin.Event{Type: kind, Resource: &r})
			}
		}
	}
	return events
}

// settled checks that neither the events nor a repeated init change anything.
func (x tester) settled(events ...plugin.Event) {
	x.Helper()
	for _, events := range [][]plugin.Event{events, x.replay()} {
		p, err := x.plan(events...)
		if err != nil {
			x.Fatal(err)
		}
		if got := changes(p); len(got) > 0 || len(p.Warnings()) > 0 {
			x.Errorf("a repeat of %d events changes %v, warns %v", len(events), got, p.Warnings())
		}
	}
}

// changes are the paths of p, but for those where the user's text stands.
func changes(p *scaffold.Plan) []string {
	return slices.DeleteFunc(paths(p), func(s string) bool { return strings.HasPrefix(s, string(scaffold.Keep)+" ") })
}

// fleet returns a project with the kind Frigate.
func fleet(t *testing.T, change func(*project.Config)) tester {
	t.Helper()
	x := initialized(t, change)
	x.apply(x.createAPI(frigate()))
	x.record()
	return x
}

// TestE2EOfSimilarNames checks that each kind gets its end-to-end tests, also if the names of
// another kind's tests contain its own.
func TestE2EOfSimilarNames(t *testing.T) {
	t.Parallel()
	x := initialized(t, func(c *project.Config) { c.MultiGroup = true })
	for _, group := range []string{"spaceship", "ship"} {
		r := frigate()
		r.Group = group
		x.apply(x.createAPI(r))
		x.record()
		x.addWebhook(r, project.Webhooks{Validation: true})
	}
	x.contains("test/e2e/e2e_test.go", ", spaceshipv1FrigateValidation)", ", shipv1FrigateValidation)")
}

// TestWebhooksCommute checks that the order in which webhooks are added does not affect
// the files.
func TestWebhooksCommute(t *testing.T) {
	t.Parallel()
	defaulting := project.Webhooks{Defaulting: true, DefaultingPath: "/fill"}
	validation := project.Webhooks{Validation: true}
	both := project.Webhooks{Defaulting: true, DefaultingPath: "/fill", Validation: true}
	for name, change := range map[string]func(*project.Config){
		"single group": nil,
		"multigroup":   func(c *project.Config) { c.MultiGroup = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := webhookFile
			if change != nil {
				file = "internal/webhook/ship/v1/frigate_webhook.go"
			}
			var all []string
			for _, order := range [][]project.Webhooks{{both}, {defaulting, validation}, {validation, defaulting}, {validation, both}} {
				x := fleet(t, change)
				var events []plugin.Event
				for _, requested := range order {
					e, _ := x.addWebhook(frigate(), requested)
					events = append(events, e)
				}
				x.settled(events...)
				all = append(all, x.read(file))
			}
			for _, other := range all[1:] {
				if diff := cmp.Diff(all[0], other); diff != "" {
					t.Errorf("another order (-both at once +other):\n%s", diff)
				}
			}
			if !strings.Contains(all[0], ".\n\t\tWithDefaulter(&FrigateDefaulter{}).\n\t\tWithDefaulterCustomPath(\"/fill\").\n"+
				"\t\tWithValidator(&FrigateValidator{}).\n\t\tComplete()\n") || !strings.Contains(all[0], "webhook:path=/fill,mutating=true,") {
				t.Errorf("no paths in:\n%s", all[0])
			}
		})
	}
}

// usersWebhook is a webhook file as a user or kubebuilder could have changed it.
const usersWebhook = `package v1

import (
	stdctx "context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"

	api "example.org/fleet/api/v1"
)

var frigatelog = ctrl.Log.WithName("mine")

// SetupFrigateWebhookWithManager is ours now.
func SetupFrigateWebhookWithManager(m ctrl.Manager) error {
	frigatelog.Info("here")
	webhooks := ctrl.NewWebhookManagedBy(m, &api.Frigate{}) // typed
	if err := webhooks.
		RecoverPanic(true).
		// The last word:
		WithDefaulter(&FrigateDefaulter{log: fmt.Sprint}).
		Complete(); err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	return nil
}

// Its marker.
// +kubebuilder:webhook:path=/mutate-ship-example-org-v1-frigate,mutating=true,failurePolicy=ignore,sideEffects=None,groups=ship.example.org,resources=frigates,verbs=create,versions=v1,name=mfrigate-v1.kb.io,admissionReviewVersions=v1

// FrigateDefaulter is ours too.
type FrigateDefaulter struct{ log func(...any) string }

func (defaulter *FrigateDefaulter) Default(_ stdctx.Context, f *api.Frigate) error {
	defaulter.log(f, field.NewPath("x"))
	return nil
}

func (defaulter *FrigateDefaulter) more() {}
`

func TestWebhookKeepsTheUsersCode(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"edited":         usersWebhook,
		"with CRLF":      strings.ReplaceAll(usersWebhook, "\n", "\r\n"),
		"without ending": strings.TrimSpace(usersWebhook),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := fleet(t, nil)
			x.addWebhook(frigate(), project.Webhooks{Defaulting: true})
			x.write(webhookFile, src)
			e, _ := x.addWebhook(frigate(), project.Webhooks{Validation: true})
			got := x.read(webhookFile)
			rest := got
			for line := range strings.Lines(src) {
				i := strings.Index(rest, strings.TrimRight(line, "\r\n"))
				if i < 0 {
					t.Fatalf("the line %q is missing:\n%s", line, got)
				}
				rest = rest[i:]
			}
			if lf := strings.Count(got, "\n") - strings.Count(got, "\r\n"); strings.Contains(src, "\r") && lf > 0 || !strings.Contains(src, "\r") && strings.Contains(got, "\r") {
				t.Errorf("mixed line endings: %q", got)
			}
			x.contains(webhookFile, "WithValidator(&FrigateValidator{}).", "(_ stdctx.Context, frigate *api.Frigate) (admission.Warnings, error)")
			x.settled(e)
		})
	}
}

// TestWebhookFollowsMovedSetup adds a webhook after the user moved the setup function to
// another file.
func TestWebhookFollowsMovedSetup(t *testing.T) {
	t.Parallel()
	const moved = "internal/webhook/v1/setup.go"
	x := fleet(t, nil)
	x.addWebhook(frigate(), project.Webhooks{Defaulting: true})
	src := x.read(webhookFile)
	from, to := strings.Index(src, "// SetupFrigate"), strings.Index(src, "// +kubebuilder:webhook")
	x.write(webhookFile, strings.Replace(src[:from]+src[to:], "\tctrl \"sigs.k8s.io/controller-runtime\"\n", "", 1))
	x.write(moved, "package v1\n\nimport (\n\tctrl \"sigs.k8s.io/controller-runtime\"\n\n\tshipv1 \"example.org/fleet/api/v1\"\n)\n\n"+src[from:to])
	e, _ := x.addWebhook(frigate(), project.Webhooks{Validation: true})
	x.contains(moved, "WithValidator(&FrigateValidator{}).")
	x.settled(e)
}
