//go:build unix

package term

import (
	"errors"
	"regexp"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// reportsCursor asks the terminal where its cursor is, and reports whether it answers within a time. What the user
// types meanwhile is kept for the first question.
func (t tty) reportsCursor(within time.Duration) bool {
	fd := int(t.in.Fd())
	before, err := term.MakeRaw(fd) // the answer is not shown, and has no end of line
	if err != nil {
		return false
	}
	defer func() { _ = term.Restore(fd, before) }()
	if _, err := t.out.WriteString("\x1b[6n"); err != nil {
		return false
	}
	end, report := time.Now().Add(within), regexp.MustCompile(`\x1b\[\d+;\d+R`)
	for part := make([]byte, 256); waitForInput(fd, time.Until(end)); {
		n, err := unix.Read(fd, part)
		if err != nil || n == 0 {
			return false
		}
		t.in.ahead = append(t.in.ahead, part[:n]...)
		if at := report.FindIndex(t.in.ahead); at != nil {
			t.in.ahead = append(t.in.ahead[:at[0]], t.in.ahead[at[1]:]...)
			return true
		}
	}
	return false
}

// waitForInput reports whether there is something to read within a time.
func waitForInput(fd int, within time.Duration) bool {
	for end := time.Now().Add(within); time.Until(end) > 0; {
		timeout := unix.NsecToTimeval(time.Until(end).Nanoseconds())
		var set unix.FdSet
		set.Set(fd)
		n, err := unix.Select(fd+1, &set, nil, nil, &timeout)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0
		}
	}
	return false
}
