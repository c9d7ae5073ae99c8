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

// settle is a little longer than the age from which operon trusts the time of a change.
const settle = 60 * time.Millisecond

const (
	said    = "nothing to do\n"
	already = "said already.\n" // of the same length
)

// scriptAnswers is the script command `answers`; its arguments are those of operon. It
// checks that operon prints the result of an earlier run from its result cache. With !, it
// checks that operon does the work again. To tell the two apart, it changes the cached
// text.
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
		ts.Fatalf("operon did not use its result cache; it prints %q", got)
	case neg && got == already:
		ts.Fatalf("operon used its result cache")
	}
}

// retell changes the text in an entry of the result cache.
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
