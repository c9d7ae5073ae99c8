package csv

import (
	"cmp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/internal/jsonvalue"
)

// relatedImages adds the images in variables RELATED_IMAGE_NAME to the base's. An
// image of the base with the same name gets the value of the variable. An empty variable names no image.
func (g *generator) relatedImages() {
	type found struct{ name, image, container string }
	var images []found
	for _, w := range g.workloads {
		containers := w.containers()
		for _, c := range containers {
			at := w.GetName()
			if len(containers) > 1 {
				at += "-" + jsonvalue.String(c, "name")
			}
			for _, env := range jsonvalue.Maps(c, "env") {
				name, is := strings.CutPrefix(jsonvalue.String(env, "name"), "RELATED_IMAGE_")
				if !is {
					continue
				}
				if env["valueFrom"] != nil {
					g.refuse(nil, "give it a value", "the variable %s of %s has no value but a reference, and a related image needs one", env["name"], w)
					continue
				}
				if jsonvalue.String(env, "value") == "" {
					continue
				}
				image := found{strings.ToLower(strings.ReplaceAll(name, "_", "-")), jsonvalue.String(env, "value"), at}
				same := func(f found) bool { return f.name == image.name && f.image == image.image }
				if !slices.ContainsFunc(images, same) {
					images = append(images, image)
				}
			}
		}
	}
	spec := jsonvalue.EnsureMap(g.csv, "spec")
	related := jsonvalue.List(spec, "relatedImages")
	for _, f := range images {
		if slices.ContainsFunc(images, func(other found) bool { return other.name == f.name && other.image != f.image }) {
			f.name = f.container + "-" + f.name
		}
		i := slices.IndexFunc(related, func(item any) bool { return jsonvalue.At(item, "name") == f.name })
		if i < 0 {
			related = append(related, map[string]any{"name": f.name, "image": f.image})
			continue
		}
		jsonvalue.EnsureMap(related[i].(map[string]any))["image"] = f.image
	}
	if g.o.Digests != nil {
		related = g.pin(related)
	}
	setList(spec, "relatedImages", related)
	g.result.Images = g.allImages(related)
}

// references returns the fields with images: of containers, and of variables RELATED_IMAGE_NAME.
func (g *generator) references() []reference {
	var all []reference
	for _, w := range g.workloads {
		for _, c := range w.containers() {
			all = append(all, reference{c, "image", w.GetName(), jsonvalue.String(c, "name")})
			for _, env := range jsonvalue.Maps(c, "env") {
				if strings.HasPrefix(jsonvalue.String(env, "name"), "RELATED_IMAGE_") && jsonvalue.String(env, "value") != "" {
					all = append(all, reference{env, "value", w.GetName(), ""})
				}
			}
		}
	}
	return all
}

// reference is a field with an image.
type reference struct {
	in         map[string]any
	key        string
	deployment string
	container  string // "" for a variable
}

// pin replaces images by their digests, and adds the images of containers to the related images,
// so that all can be mirrored.
func (g *generator) pin(related []any) []any {
	digest := func(image string) string { return cmp.Or(g.o.Digests[image], image) }
	for _, item := range related {
		if object, ok := item.(map[string]any); ok {
			object["image"] = digest(jsonvalue.String(object, "image"))
		}
	}
	for _, r := range g.references() {
		image := digest(jsonvalue.String(r.in, r.key))
		r.in[r.key] = image
		if r.container == "" || slices.ContainsFunc(related, func(item any) bool { return jsonvalue.At(item, "image") == image }) {
			continue
		}
		name := r.container
		if slices.ContainsFunc(related, func(item any) bool { return jsonvalue.At(item, "name") == name }) {
			name = r.deployment + "-" + name
		}
		related = append(related, map[string]any{"name": name, "image": image})
	}
	return related
}

// allImages returns the images of the bundle, sorted.
func (g *generator) allImages(related []any) []string {
	images := map[string]bool{}
	for _, item := range related {
		images[jsonvalue.String(item, "image")] = true
	}
	for _, r := range g.references() {
		images[jsonvalue.String(r.in, r.key)] = true
	}
	delete(images, "")
	return sorted(images)
}
