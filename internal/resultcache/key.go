package resultcache

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/goenv"
)

// key tells command lines apart: arguments, working folder, binary, environment
// and kinds of streams. It is a hash, so that no value of the environment can be
// read from what is kept.
type key [2]uint64

// file is where the record lies, in the folder of what operon keeps.
func (k key) file(dir string) string {
	const separator = string(os.PathSeparator)
	return dir + separator + "rerun" + separator + strconv.FormatUint(k[0], 16) + "-" + strconv.FormatUint(k[1], 16)
}

// add hashes a text, with its length, so that no other list of texts is the same:
// FNV-1a, twice from different starts.
func (k *key) add(text string) {
	text = strconv.Itoa(len(text)) + ":" + text
	for i := range len(text) {
		k[0] = (k[0] ^ uint64(text[i])) * 1099511628211
		k[1] = (k[1] ^ uint64(text[i])) * 1099511628211
	}
}

// thisKey is the key of this process. ok is false when it does not know where
// it is, or which binary.
func thisKey() (k key, ok bool) {
	k = key{14695981039346656037, 7809847782465536322}
	binary, err := os.Executable()
	if err != nil {
		return k, false
	}
	dir, err := os.Getwd()
	if err != nil {
		return k, false
	}
	k.add(binary)
	k.add(dir)
	for _, stream := range []*os.File{os.Stdout, os.Stderr} {
		k.add(strconv.FormatBool(Terminal(stream)))
	}
	k.add(strconv.Itoa(len(os.Args)))
	for _, arg := range os.Args[1:] {
		k.add(arg)
	}
	env := os.Environ()
	slices.Sort(env)
	for _, line := range env {
		if name, _, _ := strings.Cut(line, "="); matters(name) {
			k.add(line)
		}
	}
	return k, true
}

// Terminal guesses whether a stream is a terminal, without asking the terminal:
// a device, and not the one that swallows everything.
func Terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// matters reports whether a variable is read by operon, by the libraries below
// it, or by the go command as it lists packages, which is all that is started:
//
//   - what [goenv.Variable] says
//   - OPERON_*, SOURCE_DATE_EPOCH, TZ: operon, and the year that it is
//   - TMPDIR, TMP, TEMP: where files for the go command are put
//   - TERM, NO_COLOR: colours
//   - INFLECT_PATH, ACRONYMS_PATH: the library behind plural names
//
// The rest of an environment changes from one terminal to the next, and from one
// line of a Makefile to another. Windows ignores the case of names.
func matters(name string) bool {
	name = strings.ToUpper(name)
	return goenv.Variable(name) || strings.HasPrefix(name, "OPERON_") || slices.Contains([]string{
		"SOURCE_DATE_EPOCH", "TZ", "TMPDIR", "TMP", "TEMP", "TERM", "NO_COLOR", "INFLECT_PATH", "ACRONYMS_PATH",
	}, name)
}
