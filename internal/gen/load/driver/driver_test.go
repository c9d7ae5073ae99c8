package driver

import (
	"os"
	"os/exec"
	"testing"
)

// TestMain makes this binary a program that answers as a driver.
func TestMain(m *testing.M) {
	if answered, err := Answer(os.Args[1:], os.Stdout); answered {
		if err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// TestDriver expects the same answer from the program of a driver and from this one, which is the driver on systems
// without cat.
func TestDriver(t *testing.T) {
	t.Parallel()
	const content = "{\"Roots\": [\"%s\\n\"]}\n\x00"
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d, err := New(t.TempDir(), self, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{d.Program, self} {
		cmd := exec.CommandContext(t.Context(), program, d.Pattern)
		cmd.Dir = d.Dir
		out, err := cmd.Output()
		if err != nil || string(out) != content {
			t.Errorf("%s: %q, %v", program, out, err)
		}
	}
	missing := exec.CommandContext(t.Context(), self, d.Pattern)
	missing.Dir = t.TempDir()
	if out, err := missing.Output(); err == nil || len(out) > 0 {
		t.Errorf("without the file: %q, %v", out, err)
	}
}
