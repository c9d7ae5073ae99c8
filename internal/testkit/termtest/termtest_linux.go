// Package termtest opens terminals for tests.
package termtest

import (
	"cmp"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Open returns the two ends of a pseudo-terminal: user is the end of the screen and the
// keyboard, program the end of a program's standard streams. Both are closed when the test
// ends.
func Open(t testing.TB, columns uint16) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = user.Close() })
	// Fd would make the file blocking, and its reads ignore deadlines.
	raw, err := user.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number int
	control := raw.Control(func(fd uintptr) {
		if number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err == nil {
			err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		}
		if err == nil {
			err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
		}
	})
	if err := cmp.Or(control, err); err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return user, program
}
