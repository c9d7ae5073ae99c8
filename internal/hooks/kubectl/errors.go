package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errorList holds several errors. Each one is printed.
type errorList []error

func (p errorList) Error() string { return errorText(p) }

// add appends an error unless it is nil.
func (p *errorList) add(err error) {
	if err != nil {
		*p = append(*p, err)
	}
}

// err returns the errors as one error, or nil.
func (p errorList) err() error {
	switch len(p) {
	case 0:
		return nil
	case 1:
		return p[0]
	}
	return p
}

// fileError is an error about an object from a file.
type fileError struct {
	doing, source string
	err           error
}

func (e *fileError) Error() string {
	return fmt.Sprintf("error when %s %q: %v", e.doing, e.source, e.err)
}

func (e *fileError) Unwrap() error { return e.err }

// errorText returns the text that kubectl prints for an error: the message and reason of
// a server error, and any other error after "error: ".
func errorText(err error) string {
	var several errorList
	if errors.As(err, &several) {
		var lines []string
		for _, e := range several {
			lines = append(lines, errorText(e))
		}
		return strings.Join(lines, "\n")
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "error: " + err.Error()
	}
	s := status.Status()
	if s.Reason == metav1.StatusReasonInvalid && s.Details != nil && len(s.Details.Causes) > 0 {
		return invalidText(s)
	}
	if s.Reason == metav1.StatusReasonInvalid {
		return "The request is invalid: " + s.Message
	}
	if s.Reason == "" || s.Reason == metav1.StatusReasonUnknown {
		return "Error from server: " + err.Error()
	}
	return fmt.Sprintf("Error from server (%s): %s", s.Reason, err.Error())
}

// invalidText lists the causes of an invalid object, a line each.
func invalidText(s metav1.Status) string {
	head := fmt.Sprintf("The %s %q is invalid: ", s.Details.Kind, s.Details.Name)
	var lines []string
	for _, c := range s.Details.Causes {
		if line := fmt.Sprintf("%s: %s", c.Field, c.Message); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 1 {
		return head + lines[0]
	}
	return head + "\n* " + strings.Join(lines, "\n* ")
}
