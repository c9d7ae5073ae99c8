package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestConfigure expects that the first collection sets when the next ones begin, and that the user's
// settings stay.
func TestConfigure(t *testing.T) { // not parallel: the settings belong to the process
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	debug.SetMemoryLimit(1 << 40)
	configure(func(string) string { return "set by the user" })
	if got, bytes := percent(), debug.SetMemoryLimit(-1); got != 100 || bytes != 1<<40 {
		t.Errorf("the user's settings became %d%% and %d bytes", got, bytes)
	}
	configure(func(string) string { return "" })
	if got, bytes := percent(), debug.SetMemoryLimit(-1); got != beforeFirst || bytes != limit {
		t.Errorf("%d%% and %d bytes before the first collection", got, bytes)
	}
	runtime.GC()
	for deadline := time.Now().Add(time.Minute); percent() != afterFirst; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d%% after the first collection", percent())
		}
	}
}

// percent returns GOGC.
func percent() uint64 {
	read := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(read)
	return read[0].Value.Uint64()
}
