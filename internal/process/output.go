package process

import (
	"bytes"
	"errors"
)

// most is how many bytes of a child's output are kept.
const most = 64 << 20

// ErrTooMuch is why a child was ended that printed without an end.
var ErrTooMuch = errors.New("printed more than 64 MiB, and was ended")

// Output keeps what a child prints. A child that prints without an end would fill
// the memory: beyond 64 MiB its pipe is closed, which ends most programs, and Err
// tells of it.
type Output struct {
	kept bytes.Buffer
	full bool
}

// Write implements io.Writer for exec.Cmd, which closes the pipe after an error.
func (o *Output) Write(p []byte) (int, error) {
	if o.full = o.full || o.kept.Len()+len(p) > most; o.full {
		return 0, ErrTooMuch
	}
	return o.kept.Write(p)
}

// Bytes are what the child printed, or the beginning of it.
func (o *Output) Bytes() []byte { return o.kept.Bytes() }

// Err is ErrTooMuch when the child printed more than was kept. It is asked once the
// child ended.
func (o *Output) Err() error {
	if o.full {
		return ErrTooMuch
	}
	return nil
}
