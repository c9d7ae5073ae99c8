package testcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/internal/controlplane/assets"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/kubeapi"
	"github.com/operon-dev/operon/internal/process"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// controllers are those of kube-controller-manager that tests need. Others would create objects that no test mentions,
// such as the pods of a Deployment. aggregation is added if hooks may bind roles: otherwise it would change roles while
// the cleanup after a test restores them.
const controllers, aggregation = "garbage-collector-controller", ",clusterrole-aggregation-controller"

// manager is kube-controller-manager. It starts when something first waits for one of its controllers. Because it
// notices new kinds only after half a minute, it starts again after CRDs were installed.
type manager struct {
	program, kubeconfig string
	controllers         string

	mu   sync.Mutex
	end  context.CancelFunc // nil if the program does not run
	wait func() error
	log  bytes.Buffer
}

// start starts the program unless it runs.
func (m *manager) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		return nil
	}
	if _, err := os.Stat(m.program); err != nil {
		return fault.Failed("operon envtest build installs it", "the test needs a controller, and %s is missing in %s", assets.ControllerManager, filepath.Dir(m.program))
	}
	m.log.Reset()
	ctx, end := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, m.program, "--kubeconfig="+m.kubeconfig, "--controllers="+m.controllers, "--leader-elect=false", "--secure-port=0",
		"--kube-api-qps=200", "--kube-api-burst=400")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &m.log, &m.log, 50*time.Millisecond // it has nothing to save
	wait, err := process.Start(cmd)
	if err != nil {
		end()
		return fault.In("start "+assets.ControllerManager, err)
	}
	m.end, m.wait = end, wait
	return nil
}

// stop stops the program if it runs, and returns the last line of its log.
func (m *manager) stop() (last string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end == nil {
		return ""
	}
	m.end()
	_ = m.wait() // it was killed
	m.end = nil
	lines := strings.Split(strings.TrimSpace(m.log.String()), "\n")
	return lines[len(lines)-1]
}

// work starts the controllers if they have work to do, and reports whether they have. An object without an owner, one
// whose deletion waits for others, and a namespace that is being deleted are work; and aggregated roles that lack rules, if
// hooks may bind roles.
func (s *Backend) work(ctx context.Context) (pending bool, err error) {
	s.working.Lock()
	defer s.working.Unlock()
	l, err := s.mirror.list(ctx)
	if err != nil || l.revision == s.idle {
		return false, err
	}
	exists := map[types.UID]bool{}
	for _, o := range l.objects {
		exists[o.GetUID()] = true
	}
	for _, o := range l.objects {
		if !s.waits(o, l.objects, exists) {
			continue
		}
		if done, err := s.finish(ctx, o, l.objects); done || err != nil {
			return true, err
		}
		return true, s.manager.start()
	}
	if s.binds {
		lacks, err := lacksRules(l.objects)
		if err != nil {
			return false, err
		}
		if lacks {
			return true, s.manager.start()
		}
	}
	s.idle = l.revision
	return false, nil
}

// waits reports whether an object waits for a controller.
func (s *Backend) waits(o *unstructured.Unstructured, all []*unstructured.Unstructured, exists map[types.UID]bool) bool {
	// blocked reports whether all objects of a list are being deleted, and wait for finalizers of others.
	blocked := func(list []*unstructured.Unstructured) bool {
		return !slices.ContainsFunc(list, func(o *unstructured.Unstructured) bool {
			return o.GetDeletionTimestamp() == nil || len(o.GetFinalizers()) == 0
		})
	}
	owners := o.GetOwnerReferences()
	switch {
	case o.GetDeletionTimestamp() == nil:
		return len(owners) > 0 && !slices.ContainsFunc(owners, func(r metav1.OwnerReference) bool { return exists[r.UID] })
	case isPod(o):
		return len(o.GetFinalizers()) == 0
	case isNamespace(o):
		content := only(all, func(in *unstructured.Unstructured) bool { return in.GetNamespace() == o.GetName() })
		return len(content) == 0 && o.GetName() != s.held || !blocked(content)
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents):
		owned := dependents(o, all)
		blocking := slices.ContainsFunc(owned, func(d *unstructured.Unstructured) bool {
			return slices.ContainsFunc(d.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
				return r.UID == o.GetUID() && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
			})
		})
		return !blocking || !blocked(owned)
	}
	return slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents)
}

// finish continues the deletion of a Pod, for which no kubelet does, of an owner without dependents, and of a namespace: the
// namespace controller waits five seconds before it deletes the objects, for API servers that do not know of the deletion yet.
func (s *Backend) finish(ctx context.Context, o *unstructured.Unstructured, all []*unstructured.Unstructured) (done bool, err error) {
	switch {
	case o.GetDeletionTimestamp() == nil:
		return false, nil
	case isPod(o):
		err = s.admin.DeleteNow(ctx, podKind, o.GetNamespace(), o.GetName())
	case isNamespace(o):
		content := only(all, func(in *unstructured.Unstructured) bool { return in.GetNamespace() == o.GetName() })
		for _, in := range content {
			if in.GetDeletionTimestamp() == nil && (err == nil || isRace(err)) {
				err = s.delete(ctx, in, metav1.DeletePropagationBackground)
			}
		}
		if len(content) == 0 {
			err = s.finalizers(ctx, o.GetName(), func([]any) []any { return nil })
		}
	default:
		if len(dependents(o, all)) > 0 {
			return false, nil
		}
		left := slices.DeleteFunc(o.GetFinalizers(), func(f string) bool {
			return f == metav1.FinalizerDeleteDependents || f == metav1.FinalizerOrphanDependents
		})
		err = s.merge(ctx, o, map[string]any{"finalizers": left})
	}
	if isRace(err) {
		err = nil
	}
	return true, err
}

// dependents returns the objects that have an owner.
func dependents(owner *unstructured.Unstructured, all []*unstructured.Unstructured) []*unstructured.Unstructured {
	return only(all, func(d *unstructured.Unstructured) bool {
		return slices.ContainsFunc(d.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() })
	})
}

// only returns the objects for which keep is true.
func only(all []*unstructured.Unstructured, keep func(*unstructured.Unstructured) bool) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool { return !keep(o) })
}

func isNamespace(o *unstructured.Unstructured) bool {
	return o.GetKind() == namespaceKind.Kind && o.GetAPIVersion() == namespaceKind.Version
}

// podKind is the kind Pod.
var podKind = kubeapi.Kind{Version: "v1", Kind: "Pod", Resource: "pods", Namespaced: true}

func isPod(o *unstructured.Unstructured) bool {
	return o.GetKind() == podKind.Kind && o.GetAPIVersion() == podKind.Version
}

// settle waits until no controller has work.
func (s *Backend) settle(ctx context.Context) error {
	err := until(ctx, "the controllers are not done", func() (bool, error) {
		pending, err := s.work(ctx)
		for i := 0; pending && err == nil && i < 50 && !s.mirror.hasChanged(); i++ {
			err = kubeapi.Sleep(ctx, interval/2)
		}
		return !pending, err
	})
	if err != nil && ctx.Err() == nil {
		if last := s.manager.stop(); last != "" {
			return fmt.Errorf("%w; %s: %s", err, assets.ControllerManager, last)
		}
	}
	return err
}

// lacksRules reports whether an aggregated ClusterRole, such as edit, lacks rules of those that it selects. Without its
// rules, the API server lets hooks bind a role that they may not bind on other clusters.
func lacksRules(all []*unstructured.Unstructured) (bool, error) {
	var roles []rbacv1.ClusterRole
	for _, o := range all {
		if o.GetKind() != "ClusterRole" || o.GroupVersionKind().Group != rbacv1.GroupName {
			continue
		}
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &role); err != nil {
			return false, err
		}
		roles = append(roles, role)
	}
	for _, role := range roles {
		if role.AggregationRule == nil {
			continue
		}
		for _, s := range role.AggregationRule.ClusterRoleSelectors {
			selector, err := metav1.LabelSelectorAsSelector(&s)
			if err != nil {
				return false, err
			}
			for _, other := range roles {
				if other.Name == role.Name || !selector.Matches(labels.Set(other.Labels)) {
					continue
				}
				for _, rule := range other.Rules {
					if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(r, rule) }) {
						return true, nil
					}
				}
			}
		}
	}
	return false, nil
}

// bindsRoles reports whether a rule of a role is about bindings of roles.
func bindsRoles(role *unstructured.Unstructured) bool {
	rules, _, _ := unstructured.NestedSlice(role.Object, "rules")
	for _, v := range rules {
		rule, _ := v.(map[string]any)
		resources, _, _ := unstructured.NestedStringSlice(rule, "resources")
		if slices.ContainsFunc(resources, func(r string) bool { return r == "*" || strings.HasSuffix(r, "rolebindings") }) {
			return true
		}
	}
	return false
}

// holder is a finalizer of a namespace.
const holder = "operon.dev/hook-test"

// HoldNamespace implements hooktest.Cluster.
func (s *Backend) HoldNamespace(ctx context.Context, name string) (release func(context.Context) error, err error) {
	if err := s.finalizers(ctx, name, func(all []any) []any { return append(all, holder) }); err != nil {
		return nil, err
	}
	hold := func(name string) {
		s.working.Lock()
		defer s.working.Unlock()
		s.held, s.idle = name, 0
	}
	hold(name)
	return func(ctx context.Context) error {
		hold("")
		return s.finalizers(ctx, name, func(all []any) []any { return slices.DeleteFunc(all, func(f any) bool { return f == holder }) })
	}, nil
}

// finalizers changes the finalizers in the spec of a namespace.
func (s *Backend) finalizers(ctx context.Context, name string, change func([]any) []any) error {
	return until(ctx, "cannot change the finalizers of namespace "+name, func() (bool, error) {
		ns, err := s.admin.Get(ctx, namespaceKind, "", name)
		if err != nil {
			return false, err
		}
		all, _, _ := unstructured.NestedSlice(ns.Object, "spec", "finalizers")
		if err := unstructured.SetNestedSlice(ns.Object, change(all), "spec", "finalizers"); err != nil {
			return false, err
		}
		_, err = s.admin.Update(ctx, namespaceKind, ns, "finalize")
		if isRace(err) && !errors.Is(err, context.Canceled) {
			return false, nil
		}
		return err == nil, err
	})
}
