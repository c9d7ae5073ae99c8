package incremental

import (
	"github.com/operon-dev/operon/internal/gen/incremental/record"
	"github.com/operon-dev/operon/internal/gen/incremental/store"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/request"
)

// Update and the following names let tests take the steps of a run one by one.
type (
	Update  = update
	Attempt = attempt
)

const RecordKind = recordKind

var NewLibrary = newLibrary

// NewUpdate returns the update for a project without a record.
func NewUpdate(src *overlay.Project, j *request.Job, l *library, g *golist.Graph) *Update {
	return newUpdate(src, j, l, nil, compareOutputs(src, nil), nil, g)
}

func (h *History) Key() store.Key       { return h.key }
func (h *History) Last() *record.Record { return h.last }

func (h *History) Resumable(src *overlay.Project, j *request.Job) (*Update, error) {
	return h.resumable(h.last, src, j)
}
