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

// settle is a little longer than the age from which operon trusts the modification time of
// a file.
const settle = 60 * time.Millisecond

const (
	printed = "nothing to do\n"
	cached  = "cached result\n" // of the same length
)

// scriptCached is the script command `cached`. It has the arguments of operon, and checks
// that operon prints the result of an earlier run from its result cache. With !, it checks
// that operon does the work again. To distinguish the two, it first changes the cached text.
func scriptCached(ts *testscript.TestScript, neg bool, args []string) {
	time.Sleep(settle)
	records, err := filepath.Glob(filepath.Join(ts.Getenv("OPERON_CACHE"), "rerun", "*"))
	ts.Check(err)
	for _, name := range records {
		ts.Check(changeText(name))
	}
	ts.Check(ts.Exec("operon", args...))
	got := ts.ReadFile("stdout")
	switch {
	case !neg && got != cached:
		ts.Fatalf("operon did not use its result cache; it prints %q", got)
	case neg && got == cached:
		ts.Fatalf("operon used its result cache")
	}
}

// changeText changes the text in an entry of the result cache.
func changeText(name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	const sum = len("operon rerun 1\n")
	content = bytes.Replace(content, []byte(printed), []byte(cached), 1)
	binary.LittleEndian.PutUint64(content[sum:], uint64(crc32.ChecksumIEEE(content[sum+8:])))
	return os.WriteFile(name, content, 0o600)
}
