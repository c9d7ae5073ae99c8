package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hooks/cluster"
	"github.com/operon-dev/operon/internal/hooks/config"
	"github.com/operon-dev/operon/internal/hooks/engine"
)

// registration is the webhook server and the webhooks that are registered for it.
type registration struct {
	server   *cluster.Server
	webhooks cluster.Webhooks
}

// Paths of webhooks consist of a prefix for the type, the hook and the webhook name, so a
// path stays valid when a hook is replaced.
const (
	validating = "/validating/"
	mutating   = "/mutating/"
)

// webhooks returns the webhooks of all hooks. The caller holds mu.
func (o *Operator) webhooks() cluster.Webhooks {
	var w cluster.Webhooks
	for _, name := range slices.Sorted(maps.Keys(o.hooks)) {
		c := o.hooks[name].Config
		for _, a := range c.Validating {
			w.Validating = append(w.Validating, cluster.Webhook{Path: validating + name + "/" + a.Name, Admission: a})
		}
		for _, a := range c.Mutating {
			w.Mutating = append(w.Mutating, cluster.Webhook{Path: mutating + name + "/" + a.Name, Admission: a})
		}
		for _, v := range c.Conversion {
			if !slices.Contains(w.CRDs, v.CRDName) {
				w.CRDs = append(w.CRDs, v.CRDName)
			}
		}
	}
	return w
}

// register starts the webhook server if hooks have webhooks, and registers them, unless
// ctx has ended.
func (o *Operator) register(ctx context.Context) error {
	o.registering.Lock()
	defer o.registering.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	o.mu.Lock()
	at, next := o.registered, o.webhooks()
	o.mu.Unlock()
	if at.server == nil {
		if next.Empty() {
			return nil
		}
		var err error
		if at.server, err = o.Cluster.Serve(o.Host, o.Port, cluster.Handlers{Admit: o.admit, Convert: o.convert}); err != nil {
			return fault.Failed("set the address with --webhook-host and --webhook-port", "cannot serve webhooks: %v", err)
		}
	}
	err := o.Cluster.Register(ctx, at.server, at.webhooks, next)
	if at.webhooks = next.Union(at.webhooks); err == nil {
		at.webhooks = next
	}
	o.registered = at
	return fault.In("register webhooks", err)
}

// unregister reverts register when the operator stops. Until then requests are denied.
func (o *Operator) unregister() {
	o.registering.Lock()
	defer o.registering.Unlock()
	at := o.registered
	if at.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), stopTimeout)
	defer cancel()
	if err := o.Cluster.Register(ctx, at.server, at.webhooks, cluster.Webhooks{}); err != nil {
		o.Warn("", fmt.Errorf("webhooks may still be registered: %w", err))
	}
	at.server.Close()
}

// admissionTask returns the hook and the task for a request, by the path of the webhook.
// The caller calls Done on the hook's running when the request is answered.
func (o *Operator) admissionTask(path string, request map[string]any) (*runningHook, engine.Task, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rest, mutates := strings.CutPrefix(path, mutating)
	rest = strings.TrimPrefix(rest, validating)
	last := max(0, strings.LastIndexByte(rest, '/'))
	if h := o.hooks[rest[:last]]; h != nil && h.ctx.Err() == nil {
		webhooks := h.Config.Validating
		if mutates {
			webhooks = h.Config.Mutating
		}
		place := slices.IndexFunc(webhooks, func(a config.Admission) bool { return "/"+a.Name == rest[last:] })
		if place >= 0 {
			h.running.Add(1)
			return h, o.state.Admission(h.Name, place, mutates, request), nil
		}
	}
	return nil, engine.Task{}, fmt.Errorf("handle AdmissionReview: no hook found for %s", path)
}

// admit runs a hook for an admission request. The messages to the API server are the
// engine's.
func (o *Operator) admit(ctx context.Context, path string, review cluster.Review) (map[string]any, error) {
	var request map[string]any
	if err := json.Unmarshal(review, &request); err != nil {
		return nil, err
	}
	h, t, err := o.admissionTask(path, request)
	if err != nil {
		return nil, err
	}
	defer h.running.Done()
	ctx, cancel := firstDone(ctx, h.ctx)
	defer cancel()
	var response map[string]any
	if h.limit.Wait(ctx) == nil {
		err = o.run(ctx, t, func(run *Run) {
			if run.Err == nil && run.Admission != nil {
				response = admission(run)
			} else if run.Err == nil {
				run.Err = errors.New("the hook wrote no response, so the request is denied")
			}
		})
	}
	switch {
	case err != nil:
		return denied("Hook failed"), nil
	case response == nil:
		return nil, errors.New("handle AdmissionReview: hook task prop error")
	}
	return response, nil
}

func admission(run *Run) map[string]any {
	a := run.Admission
	response := denied(a.Message)
	if a.Allowed {
		response = map[string]any{"allowed": true}
	}
	if len(a.Warnings) > 0 {
		response["warnings"] = a.Warnings
	}
	if len(a.Patch) > 0 {
		response["patch"], response["patchType"] = a.Patch, "JSONPatch"
	}
	return response
}

func denied(message string) map[string]any {
	return map[string]any{"allowed": false, "status": map[string]any{"code": http.StatusForbidden, "message": message}}
}

// convert runs hooks to convert objects of a CRD. The API server checks the number of
// converted objects.
func (o *Operator) convert(ctx context.Context, crd string, review cluster.Review) (map[string]any, error) {
	var request map[string]any
	var typed struct{ Objects []*unstructured }
	if err := errors.Join(json.Unmarshal(review, &request), json.Unmarshal(review, &typed)); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var last *runningHook
	objects, err := o.state.Convert(crd, request, typed.Objects, func(t engine.Task) ([]*unstructured, bool, error) {
		h := o.hooks[t.Hook.Name]
		last = h
		if h.ctx.Err() != nil {
			return nil, false, h.ctx.Err()
		}
		h.running.Add(1)
		defer h.running.Done()
		o.mu.Unlock() // other hooks run in the meantime
		defer o.mu.Lock()
		return o.step(ctx, h, t)
	})
	if err != nil {
		return nil, err
	}
	if last.ctx.Err() == nil {
		var own []*unstructured
		for _, object := range objects {
			own = append(own, object.DeepCopy())
		}
		last.running.Go(func() { o.reportDroppedFields(last, crd, own) }) // does not delay the response
	}
	return map[string]any{"convertedObjects": objects, "result": map[string]any{"status": "Success"}}, nil
}

// step runs one hook of a conversion.
func (o *Operator) step(ctx context.Context, h *runningHook, t engine.Task) (converted []*unstructured, answered bool, err error) {
	ctx, cancel := firstDone(ctx, h.ctx)
	defer cancel()
	if h.limit.Wait(ctx) != nil {
		return nil, false, nil
	}
	err = o.run(ctx, t, func(run *Run) {
		switch {
		case run.Err != nil:
		case run.Conversion == nil:
			run.Err = errors.New("the hook wrote no response, so the conversion fails")
		default:
			answered = true
			for _, object := range run.Conversion.ConvertedObjects {
				converted = append(converted, &unstructured{Object: object})
			}
		}
	})
	return converted, answered, err
}

// firstDone returns a context that ends when either of two contexts ends.
func firstDone(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(a)
	stop := context.AfterFunc(b, cancel)
	return ctx, func() { stop(); cancel() }
}
