package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// problems are several errors, each of which is told.
type problems []error

func (p problems) Error() string { return explain(p) }

// add joins errors.
func (p *problems) add(err error) {
	if err != nil {
		*p = append(*p, err)
	}
}

// err is the errors as one, or nil.
func (p problems) err() error {
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

// explain words an error as kubectl does: what the server says, with its reason,
// and all else after "error: ".
func explain(err error) string {
	var several problems
	if errors.As(err, &several) {
		var lines []string
		for _, e := range several {
			lines = append(lines, explain(e))
		}
		return strings.Join(lines, "\n")
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "error: " + err.Error()
	}
	s := status.Status()
	if s.Reason == metav1.StatusReasonInvalid && s.Details != nil && len(s.Details.Causes) > 0 {
		return invalid(s)
	}
	if s.Reason == metav1.StatusReasonInvalid {
		return "The request is invalid: " + s.Message
	}
	if s.Reason == "" || s.Reason == metav1.StatusReasonUnknown {
		return "Error from server: " + err.Error()
	}
	return fmt.Sprintf("Error from server (%s): %s", s.Reason, err.Error())
}

// invalid words what is wrong with an object, a line for each.
func invalid(s metav1.Status) string {
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
