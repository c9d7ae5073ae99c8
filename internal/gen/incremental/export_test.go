package incremental

import (
	"github.com/operon-dev/operon/internal/gen/load"
	"github.com/operon-dev/operon/internal/gen/load/golist"
	"github.com/operon-dev/operon/internal/gen/overlay"
	"github.com/operon-dev/operon/internal/gen/record"
	"github.com/operon-dev/operon/internal/gen/request"
	"github.com/operon-dev/operon/internal/gen/store"
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
	return newUpdate(src, j, "the test keeps none", &record.Record{}, l, g)
}

// NextUpdate returns the update from the record of the last run.
func NextUpdate(q *load.Query, j *request.Job, l *library, g *golist.Graph) *Update {
	h := open(q, j)
	return newUpdate(q.Project, j, h.none, h.last, l, g)
}

// Key returns the key of the record of a job.
func Key(q *load.Query, j *request.Job) store.Key {
	key, none := keyOf(q, j)
	if none != "" {
		return store.Key{}
	}
	return key
}

// Recorded reports whether the job has a record.
func Recorded(q *load.Query, j *request.Job) bool { return len(open(q, j).last.Units) > 0 }
