package script

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// settle is longer than a change may be young for operon to rely on its time.
const settle = 60 * time.Millisecond

const (
	said    = "nothing to do\n"
	already = "said already.\n" // as long
)

// scriptAnswers is the command `answers` of scripts, with operon's arguments. It
// sees that operon has nothing to do, and says so without looking: from what it
// kept of an earlier run. With ! it sees that operon looks.
func scriptAnswers(ts *testscript.TestScript, neg bool, args []string) {
	time.Sleep(settle)
	records, err := filepath.Glob(filepath.Join(ts.Getenv("OPERON_CACHE"), "rerun", "*"))
	ts.Check(err)
	for _, name := range records {
		ts.Check(retell(name))
	}
	ts.Check(ts.Exec("operon", args...))
	switch got := ts.ReadFile("stdout"); {
	case !neg && got != already:
		ts.Fatalf("operon looked, and says %q", got)
	case neg && got == already:
		ts.Fatalf("operon did not look")
	}
}

// retell has a record say that operon said it already.
func retell(name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	const sum = len("operon rerun 1\n")
	content = bytes.Replace(content, []byte(said), []byte(already), 1)
	binary.LittleEndian.PutUint64(content[sum:], uint64(crc32.ChecksumIEEE(content[sum+8:])))
	return os.WriteFile(name, content, 0o600)
}
