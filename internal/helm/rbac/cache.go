package rbac

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"

	"github.com/operon-dev/operon/internal/gen/store"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// reportKind is the folder of reports in the cache.
const reportKind = "chartrbac"

// DeriveCached is like Derive. It takes the report from the cache if this program has derived the
// permissions of the same chart with the same options before. files are the contents of the chart.
func DeriveCached(ctx context.Context, cache *store.Store, files map[string][]byte, c *helmchart.Chart, o Options) (*Report, error) {
	key, ok := reportKey(files, o)
	if content, found := cache.Get(reportKind, key); ok && found {
		r := &Report{}
		if err := gob.NewDecoder(bytes.NewReader(content)).Decode(r); err == nil {
			return r, nil
		}
	}
	r, err := Derive(ctx, c, o)
	var content bytes.Buffer
	if err == nil && ok && gob.NewEncoder(&content).Encode(r) == nil {
		cache.Put(reportKind, key, content.Bytes())
	}
	return r, err
}

// reportKey identifies what a report depends on. ok is false if the program cannot identify itself.
func reportKey(files map[string][]byte, o Options) (key store.Key, ok bool) {
	program, ok := store.Program()
	all := struct {
		Options
		Served any
		Files  map[string][]byte
	}{Options: o, Files: files}
	if o.Kinds != nil {
		all.Served = o.Kinds.All()
	}
	content, err := json.Marshal(all)
	return store.KeyOf(program, string(content)), ok && err == nil
}
