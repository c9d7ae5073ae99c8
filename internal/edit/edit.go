// Package edit holds what edits of files that belong to the user share. Such an edit is a
// function from bytes to bytes. It finds its place by syntax, never by searching text, and
// prints nothing anew: every line outside the edit stays as it was, including its line
// ending. An edit that is already there changes nothing.
//
// The edits themselves are in package goedit for Go and in package yamledit for YAML.
package edit

import "bytes"

// LineEnd returns the line ending that most lines of src have.
func LineEnd(src []byte) string {
	if crlf := bytes.Count(src, []byte("\r\n")); 2*crlf > bytes.Count(src, []byte("\n")) {
		return "\r\n"
	}
	return "\n"
}
