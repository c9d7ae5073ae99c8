package generate

import (
	"fmt"

	"github.com/operon-dev/operon/internal/gen/generate/crdyaml"
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

// printer encodes and writes CRDs. It runs concurrently with the parser, unless the run
// must report errors.
type printer struct {
	crdGenerator
	ctx     *genall.GenerationContext
	header  string
	options []*genall.WriteYAMLOptions
	emitter crdyaml.Emitter

	queue chan printed // nil if add writes the CRD itself
	done  chan error
}

// printed is a CRD to write, with its kind and key.
type printed struct {
	kind schema.GroupKind
	key  record.Sum
	crd  apiextensionsv1.CustomResourceDefinition
}

// ahead is the number of CRDs that may wait to be written. They are large.
const ahead = 8

func (g crdGenerator) printer(ctx *genall.GenerationContext) (*printer, error) {
	header, err := g.header(ctx)
	if err != nil {
		return nil, err
	}
	p := &printer{crdGenerator: g, ctx: ctx, header: header, options: g.transforms()}
	p.emitter.Shared = true // see package flatten
	if g.known != nil {
		p.queue, p.done = make(chan printed, ahead), make(chan error, 1)
		go func(queue <-chan printed) { p.done <- p.printAll(queue) }(p.queue)
	}
	return p, nil
}

func (p *printer) add(c printed) error {
	if p.queue == nil {
		return p.print(c)
	}
	p.queue <- c
	return nil
}

// finish waits until all CRDs are written. Further calls have no effect.
func (p *printer) finish() error {
	if p.queue == nil {
		return nil
	}
	close(p.queue)
	p.queue = nil
	return <-p.done
}

func (p *printer) printAll(queue <-chan printed) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		for range queue { // so that add does not block
		}
	}()
	for c := range queue {
		if err := p.print(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) print(c printed) error {
	content, err := p.emitter.CRD(c.crd, p.options...)
	if err != nil {
		return err
	}
	var files []*memoryFile
	for _, name := range p.fileNames(c.crd) {
		out, err := p.ctx.Open(nil, name)
		if err != nil {
			return err
		}
		f := out.(*memoryFile)
		f.Grow(len(p.header) + len(content))
		f.WriteString(p.header)
		f.Write(content)
		files = append(files, f)
	}
	p.known.made(c.kind, c.key, files)
	return nil
}
