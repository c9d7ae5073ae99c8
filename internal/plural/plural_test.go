package plural

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gobuffalo/flect"
)

// same compares the plurals of a word, and of the word in other cases, with flect's.
func same(t *testing.T, words ...string) {
	t.Helper()
	for _, word := range words {
		for _, w := range []string{word, strings.ToLower(word), strings.ToUpper(word), title(word)} {
			if want, got := flect.Pluralize(w), Of(w); got != want {
				t.Errorf("the plural of %q is %q, want %q", w, got, want)
			}
		}
	}
}

func title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// tableWords returns all words, endings and acronyms of the tables.
func tableWords() []string {
	var all []string
	for entry := range strings.FieldsSeq(words) {
		all = append(all, strings.Split(strings.TrimLeft(entry, "=>"), "/")...)
	}
	return all
}

// TestTable compares the words of the tables: alone, after a prefix and before a suffix.
func TestTable(t *testing.T) {
	t.Parallel()
	all := tableWords()
	for _, w := range all {
		same(t, w, w+"s", w+"x", w[:len(w)-1])
		for _, other := range []string{"a", "Cluster", "cluster", "HTTP", "my_", "x-", "Ab1", "É", "s", "S", "y"} {
			same(t, other+w, other+title(w), w+other)
		}
	}
	for i, a := range all {
		for _, b := range []string{all[(i*7+1)%len(all)], all[(i*31+5)%len(all)], all[(i*101+9)%len(all)]} {
			same(t, a+b, title(a)+title(b), a+"-"+b)
		}
	}
}

// TestAlphabet compares all words of up to three letters, and all endings of that length.
func TestAlphabet(t *testing.T) {
	t.Parallel()
	const letters = "abcdefghijklmnopqrstuvwxyz"
	for _, a := range letters {
		for _, b := range letters {
			same(t, string(a)+string(b))
			for _, c := range letters {
				w := string(a) + string(b) + string(c)
				if want, got := flect.Pluralize(w), Of(w); got != want {
					t.Errorf("the plural of %q is %q, want %q", w, got, want)
				}
				if want, got := flect.Pluralize("Kon"+w), Of("Kon"+w); got != want {
					t.Errorf("the plural of %q is %q, want %q", "Kon"+w, got, want)
				}
			}
		}
	}
}

// TestRandomNames compares names of syllables and of words of the tables.
func TestRandomNames(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	parts := append(tableWords(), strings.Fields("ma ti ro schu us is um ex y ey f fe ss z 1 42 _ - ID Https API s ß Ö ñ 日本 . :")...)
	for range 30_000 {
		var name strings.Builder
		for range 1 + rnd.IntN(4) {
			part := parts[rnd.IntN(len(parts))]
			if rnd.IntN(2) == 0 {
				part = title(part)
			}
			name.WriteString(part)
		}
		same(t, name.String())
	}
}

// TestKinds compares usual kinds.
func TestKinds(t *testing.T) {
	t.Parallel()
	for kind := range strings.FieldsSeq(`Pod Service Ingress NetworkPolicy Endpoints EndpointSlice PodDisruptionBudget StorageClass DNS
		DNSRecord HTTPRoute HTTPS TLSRoute Proxy Gateway Gateways Policy Analysis Chassis Bus Status Alias Database Cache Switch Patch Box
		Index Matrix Schema Metadata Kafka KafkaTopic Redis Postgres MySQL NFS AWS S3 Bucket Backup Child Person Frigate Fleet Harbor Quay
		CronJob VM VMs OS IDs UUID Vertex Hero Photo Piano Studio Memo Leaf Shelf Roof Wife Knife Safe Quiz Whiz Topaz Fish News Series`) {
		same(t, kind)
	}
}

// TestFiles compares with a process of flect that reads words and acronyms of the user. flect
// reads them at its start, so this test runs itself.
func TestFiles(t *testing.T) {
	names := []string{"Frigate", "frigate", "Kraken", "Squid", "squids", "MyKraken", "WTFChild", "wtf", "XWTFMan", "Widget", "widget", "MyWidget", "_"}
	if os.Getenv("PLURAL_FILES") != "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		Use(dir, os.Environ())
		same(t, names...)
		if got := Of("kraken"); got != "krakena" {
			t.Errorf("the plural of kraken is %q", got)
		}
		return
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"words.json": `{"kraken": "krakena", "squid": "squid", "widget": "", "": "none"}`, "acronyms.json": `["WTF"]`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFiles$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PLURAL_FILES=1", "INFLECT_PATH="+filepath.Join(dir, "words.json"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func FuzzOf(f *testing.F) {
	for _, w := range []string{"Pod", "Policy", "HTTPChild", "a b", "日本語", "", "_", "-Pod", "Pod_", "ß", "ǆ", "\xff", "Child\u0301", "people", "Media"} {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if want, got := flect.Pluralize(word), Of(word); got != want {
			t.Errorf("the plural of %q is %q, want %q", word, got, want)
		}
	})
}
