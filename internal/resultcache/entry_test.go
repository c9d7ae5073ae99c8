package resultcache

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/operon-dev/operon/internal/filestat"
)

func sample(t testing.TB) entry {
	t.Helper()
	s, err := filestat.Of(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return entry{
		since: 5, until: time.Now().Unix(),
		output: []Chunk{{true, []byte("warning\n")}, {false, []byte("nothing to do\n")}, {false, []byte{}}},
		inputs: []tracked{
			{path: "/a/folder", ignoreEntries: true, stat: s.IgnoreEntries()}, {path: "/a/folder/file", stat: s},
			{path: "/a/gone"}, {path: "/b", stat: s},
			{path: "/b/with/more/in/common/than/follows"}, {path: "/b/with/more/in/common/than/follows/it"},
		},
	}
}

func TestEntryRoundTrip(t *testing.T) {
	t.Parallel()
	k := key{1, 2}
	for name, r := range map[string]entry{"empty": {inputs: []tracked{}}, "sample": sample(t)} {
		if got, ok := decode(k, r.encode(k)); !ok || !reflect.DeepEqual(got, r) {
			t.Errorf("%s: got %+v %v, want %+v", name, got, ok, r)
		}
	}
}

// TestEntryDamage flips each bit of an entry, truncates and extends it, and looks it
// up with another key.
func TestEntryDamage(t *testing.T) {
	t.Parallel()
	k := key{1, 2}
	whole := sample(t).encode(k)
	for i := range whole {
		if _, ok := decode(k, whole[:i]); ok {
			t.Fatalf("decoded %d of %d bytes", i, len(whole))
		}
		for bit := range 8 {
			flipped := bytes.Clone(whole)
			flipped[i] ^= 1 << bit
			if _, ok := decode(k, flipped); ok {
				t.Fatalf("decoded an entry with byte %d with bit %d flipped", i, bit)
			}
		}
	}
	if _, ok := decode(k, append(bytes.Clone(whole), 0)); ok {
		t.Error("decoded an entry with a trailing byte")
	}
	if _, ok := decode(key{2, 1}, whole); ok {
		t.Error("decoded the entry of another key")
	}
}

// FuzzDecode also decodes damaged entries whose checksum is correct, as a bug might
// write them.
func FuzzDecode(f *testing.F) {
	k := key{1, 2}
	whole := sample(f).encode(k)
	f.Add(whole, false)
	f.Add(whole[len(magic)+8:], true)
	f.Fuzz(func(t *testing.T, content []byte, sealed bool) {
		if sealed {
			content = seal(content)
		}
		r, ok := decode(k, content)
		if !ok {
			return
		}
		if again, ok := decode(k, r.encode(k)); !ok || !reflect.DeepEqual(again, r) {
			t.Errorf("%q decodes to %+v, which decodes to %+v", content, r, again)
		}
	})
}

func TestUnchangedAmongMany(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var inputs []tracked
	for i := range 2000 {
		inputs = append(inputs, tracked{path: filepath.Join(dir, string(rune('a'+i%26)), string(rune('a'+i/26)))})
	}
	if !unchanged(inputs) {
		t.Error("reports a change of paths that are still missing")
	}
	for _, i := range []int{0, 255, 256, 1000, 1999} {
		name := inputs[i].path
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if unchanged(inputs) {
			t.Errorf("does not notice the new folder %s", name)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRelevant(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"GOFLAGS": true, "GOENV": true, "CGO_ENABLED": true, "PATH": true, "Path": true, "HOME": true, "OPERON_CACHE": true, "TERM": true,
		"SHLVL": false, "MAKELEVEL": false, "OLDPWD": false, "WINDOWID": false, "_": false, "": false,
	} {
		if relevant(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestKeyAdd(t *testing.T) {
	t.Parallel()
	seen := map[key][]string{}
	for _, texts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"b", "a"}, {"1:a"}, {"a", "1:b"}, {"a1:b"}} {
		var k key
		for _, text := range texts {
			k.add(text)
		}
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %q have the same key", texts, other)
		}
		seen[k] = texts
	}
}
