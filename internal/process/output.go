package process

import (
	"bytes"
	"errors"
)

// maxOutput is the number of bytes that are kept of a child's output.
const maxOutput = 64 << 20

// ErrTooMuchOutput means that a child was stopped because it printed too much.
var ErrTooMuchOutput = errors.New("printed more than 64 MiB and was stopped")

// Output keeps what a child prints, up to 64 MiB. Beyond that it closes the
// pipe, which ends most programs, and Err returns an error. This protects the
// memory from a child that never stops printing.
type Output struct {
	kept bytes.Buffer
	full bool
}

// Write implements io.Writer for exec.Cmd, which closes the pipe after an error.
func (o *Output) Write(p []byte) (int, error) {
	if o.full = o.full || o.kept.Len()+len(p) > maxOutput; o.full {
		return 0, ErrTooMuchOutput
	}
	return o.kept.Write(p)
}

// Bytes returns what the child printed, or the start of it.
func (o *Output) Bytes() []byte { return o.kept.Bytes() }

// Err returns ErrTooMuchOutput if the child printed more than was kept. Call it after
// the child ended.
func (o *Output) Err() error {
	if o.full {
		return ErrTooMuchOutput
	}
	return nil
}
