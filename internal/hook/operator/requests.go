package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/hook/engine"
	"github.com/operon-dev/operon/internal/hook/live"
)

// registration is what the API server was told.
type registration struct {
	server *live.Server
	remove func(context.Context) error
	routes map[string]route
}

// route leads from the path of a webhook to its binding.
type route struct {
	hook    string
	place   int
	mutates bool
}

// webhooks are those of all hooks. It is called with the lock.
func (o *Operator) webhooks() (live.Webhooks, map[string]route) {
	var w live.Webhooks
	routes := map[string]route{}
	for _, name := range slices.Sorted(maps.Keys(o.hooks)) {
		c := o.hooks[name].Config
		for i, a := range c.Validating {
			path := fmt.Sprintf("/validating/%d", len(w.Validating))
			routes[path] = route{name, i, false}
			w.Validating = append(w.Validating, live.Webhook{Path: path, Admission: a})
		}
		for i, a := range c.Mutating {
			path := fmt.Sprintf("/mutating/%d", len(w.Mutating))
			routes[path] = route{name, i, true}
			w.Mutating = append(w.Mutating, live.Webhook{Path: path, Admission: a})
		}
		for _, v := range c.Conversion {
			if !slices.Contains(w.CRDs, v.CRDName) {
				w.CRDs = append(w.CRDs, v.CRDName)
			}
		}
	}
	return w, routes
}

// register serves webhooks, where hooks have any, and tells the API server.
func (o *Operator) register(ctx context.Context) error {
	o.mu.Lock()
	w, routes := o.webhooks()
	o.hooksAt.routes = routes
	server := o.hooksAt.server
	o.mu.Unlock()
	if len(routes)+len(w.CRDs) == 0 {
		return nil
	}
	if server == nil {
		var err error
		if server, err = o.Cluster.Serve(o.Host, o.Port, live.Answers{Admit: o.admit, Convert: o.convert}); err != nil {
			return fault.Failed("choose where with --webhook-host and --webhook-port", "serve webhooks: %v", err)
		}
	}
	remove, err := o.Cluster.Register(ctx, server, w)
	o.mu.Lock()
	o.hooksAt.server, o.hooksAt.remove = server, remove
	o.mu.Unlock()
	return fault.In("register webhooks", err)
}

// unregister takes back what register did, also when all ends.
func (o *Operator) unregister() {
	o.mu.Lock()
	at := o.hooksAt
	o.hooksAt = registration{}
	o.mu.Unlock()
	if at.remove != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(o.life), patience)
		defer cancel()
		if err := at.remove(ctx); err != nil {
			o.Trouble("", fmt.Errorf("webhooks may still be registered: %w", err))
		}
	}
	if at.server != nil {
		at.server.Close()
	}
}

// admit has a hook answer a request to validate or mutate. The words to the API
// server are the engine's.
func (o *Operator) admit(ctx context.Context, path string, review live.Review) (map[string]any, error) {
	var request map[string]any
	if err := json.Unmarshal(review, &request); err != nil {
		return nil, err
	}
	o.mu.Lock()
	r, known := o.hooksAt.routes[path]
	h := o.hooks[r.hook]
	if !known || h == nil {
		o.mu.Unlock()
		return nil, fmt.Errorf("no hook found for %s", path)
	}
	t := o.state.Admission(r.hook, r.place, r.mutates, request)
	h.running.Add(1)
	o.mu.Unlock()
	defer h.running.Done()
	ctx, cancel := bothOf(ctx, h.life)
	defer cancel()
	var response map[string]any
	err := o.run(ctx, t, func(run *Run) {
		if run.Err == nil && run.Admission != nil {
			response = admission(run)
		} else if run.Err == nil {
			run.Err = errors.New("the hook wrote no answer, so the request is denied")
		}
	})
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

// convert has hooks convert objects of a CRD.
func (o *Operator) convert(ctx context.Context, crd string, review live.Review) (map[string]any, error) {
	var request map[string]any
	var typed struct{ Objects []*unstructured }
	if err := errors.Join(json.Unmarshal(review, &request), json.Unmarshal(review, &typed)); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	objects, err := o.state.Convert(crd, request, typed.Objects, func(t engine.Task) ([]*unstructured, bool, error) {
		h := o.hooks[t.Hook.Name]
		h.running.Add(1)
		defer h.running.Done()
		o.mu.Unlock() // others go on meanwhile
		defer o.mu.Lock()
		return o.step(ctx, h, t)
	})
	if err != nil {
		return nil, err
	}
	if len(objects) != len(typed.Objects) {
		return nil, fmt.Errorf("hook returned %d objects instead of %d", len(objects), len(typed.Objects))
	}
	return map[string]any{"convertedObjects": objects, "result": map[string]any{"status": "Success"}}, nil
}

// step runs one hook of a conversion.
func (o *Operator) step(ctx context.Context, h *hooked, t engine.Task) (converted []*unstructured, answered bool, err error) {
	ctx, cancel := bothOf(ctx, h.life)
	defer cancel()
	err = o.run(ctx, t, func(run *Run) {
		switch {
		case run.Err != nil:
		case run.Conversion == nil:
			run.Err = errors.New("the hook wrote no answer, so the conversion fails")
		default:
			answered = true
			for _, object := range run.Conversion.ConvertedObjects {
				converted = append(converted, &unstructured{Object: object})
			}
		}
	})
	return converted, answered, err
}

// bothOf ends when one of two contexts does.
func bothOf(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(a)
	stop := context.AfterFunc(b, cancel)
	return ctx, func() { stop(); cancel() }
}
