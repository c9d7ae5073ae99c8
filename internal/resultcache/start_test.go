package resultcache

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestProcessStart(t *testing.T) {
	t.Parallel()
	if os.Getenv("PRINT_START") != "" {
		start, ok := processStart()
		if !ok {
			t.Fatal("the start of the process is unknown")
		}
		_, _ = os.Stdout.WriteString("start=" + start.Format(time.RFC3339Nano) + "\n")
		return
	}
	before := time.Now()
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcessStart$", "-test.v")
	cmd.Env = append(os.Environ(), "PRINT_START=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after := time.Now()
	_, value, _ := strings.Cut(string(out), "start=")
	value, _, _ = strings.Cut(value, "\n")
	start, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		t.Fatal(err)
	}
	const precision = 10 * time.Millisecond
	if start.Before(before.Add(-precision)) || start.After(after) {
		t.Errorf("the process started at %v, not between %v and %v", start, before, after)
	}
}
