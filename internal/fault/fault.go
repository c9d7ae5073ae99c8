// Package fault defines the user-facing error type: what happened, what to do
// next, and the exit code. The package does not format errors; cli prints each one
// once.
package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
)

// Exit codes are part of the interface. The help text and the command reference
// print this table.
const (
	CodeOK          = 0   // done, or nothing to do
	CodeFailed      = 1   // the command could not do its work
	CodeUsage       = 2   // bad usage or invalid input
	CodeDifferences = 3   // conflict, drift or findings
	CodeInterrupted = 130 // SIGINT
	CodeTerminated  = 143 // SIGTERM, or SIGHUP (the terminal closed)
)

// Error describes what happened and what to do next. Msg and Hint are complete
// phrases in lower case. Hint may be empty and may have several lines.
type Error struct {
	Code int
	Msg  string
	Hint string
	Err  error // the cause, or nil; its text is appended to Msg
}

// Error implements error. It does not include the hint.
func (e *Error) Error() string {
	switch {
	case e.Err == nil:
		return e.Msg
	case e.Msg == "":
		return e.Err.Error()
	}
	return e.Msg + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usage reports bad usage or invalid input (exit code 2).
func Usage(hint, format string, args ...any) *Error {
	return &Error{Code: CodeUsage, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// Failed reports work that could not be done (exit code 1). If no hint can help, a plain error has the same code.
func Failed(hint, format string, args ...any) *Error {
	return &Error{Code: CodeFailed, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// Differences reports a conflict, drift or findings (exit code 3).
func Differences(hint, format string, args ...any) *Error {
	return &Error{Code: CodeDifferences, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// In prefixes err with a place ("edit cmd/main.go") and keeps its code and
// hint. It returns nil for a nil err.
func In(place string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: Code(err), Msg: place, Hint: HintOf(err), Err: err}
}

// Code returns the exit code of err: the code of the outermost Error in its chain,
// 1 for any other error, 0 for nil.
func Code(err error) int {
	if err == nil {
		return CodeOK
	}
	var f *Error
	if errors.As(err, &f) {
		return f.Code
	}
	return CodeFailed
}

// HintOf returns the hint of the outermost Error in err's chain, or "".
func HintOf(err error) string {
	var f *Error
	if errors.As(err, &f) {
		return f.Hint
	}
	return ""
}

// Reason returns the cause of err without the path or URL, which the caller
// reports as the user wrote it.
func Reason(err error) error {
	if at, is := errors.AsType[*fs.PathError](err); is {
		return at.Err
	}
	if at, is := errors.AsType[*url.Error](err); is {
		return at.Err
	}
	return err
}
