package resultcache

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/internal/goenv"
)

// key identifies a command line: a hash of the arguments, the working folder, the
// binary, the relevant environment variables, and which streams are terminals. A
// hash does not reveal the values of variables.
type key [2]uint64

// file returns the file of the entry below the folder dir.
func (k key) file(dir string) string {
	return dir + separator + "rerun" + separator + strconv.FormatUint(k[0], 16) + "-" + strconv.FormatUint(k[1], 16)
}

// add hashes a text with its length, so that different lists of texts have different
// keys. The hash is FNV-1a, twice with different initial values.
func (k *key) add(text string) {
	text = strconv.Itoa(len(text)) + ":" + text
	for i := range len(text) {
		k[0] = (k[0] ^ uint64(text[i])) * 1099511628211
		k[1] = (k[1] ^ uint64(text[i])) * 1099511628211
	}
}

// key returns the key of the process.
func (p *Process) key() key {
	k := key{14695981039346656037, 7809847782465536322}
	k.add(p.Program)
	k.add(p.Dir)
	for _, stream := range []*os.File{p.Out, p.Err} {
		k.add(strconv.FormatBool(Terminal(stream)))
	}
	k.add(strconv.Itoa(len(p.Args)))
	for _, arg := range p.Args {
		k.add(arg)
	}
	for _, line := range slices.Sorted(slices.Values(p.Environ)) {
		if name, _, _ := strings.Cut(line, "="); relevant(name) {
			k.add(line)
		}
	}
	return k
}

// Terminal guesses whether a stream is a terminal without a system call to the
// terminal: it is a character device other than the null device.
func Terminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// relevant reports whether operon, its libraries, or the go command that lists packages
// read an environment variable:
//
//   - the variables of [goenv.Variable]
//   - OPERON_*; SOURCE_DATE_EPOCH and TZ for the current year
//   - TMPDIR, TMP, TEMP: the folder of files for the go command
//   - TERM, NO_COLOR: colours
//   - EXTERNAL_PLUGINS_PATH: the folder of plugins for kubebuilder
//   - INFLECT_PATH, ACRONYMS_PATH: the library that forms plurals
//
// Other variables differ between terminals and between lines of a Makefile. The
// case of the name does not matter, as on Windows.
func relevant(name string) bool {
	name = strings.ToUpper(name)
	return goenv.Variable(name) || strings.HasPrefix(name, "OPERON_") || slices.Contains([]string{
		"SOURCE_DATE_EPOCH", "TZ", "TMPDIR", "TMP", "TEMP", "TERM", "NO_COLOR", "EXTERNAL_PLUGINS_PATH", "INFLECT_PATH", "ACRONYMS_PATH",
	}, name)
}
