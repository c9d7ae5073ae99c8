package adopt

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/project"
	"github.com/operon-dev/operon/internal/project/migrate"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected findings in testdata")

// TestFind reads the repositories in testdata/*.txtar. The file "want" of an archive has the findings, and
// "want PROJECT" the file that follows from them.
func TestFind(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			repository := &txtar.Archive{Comment: archive.Comment}
			for _, f := range archive.Files {
				if strings.HasPrefix(f.Name, "want") {
					want[f.Name] = string(f.Data)
				} else {
					repository.Files = append(repository.Files, f)
				}
			}
			findings, projectFile := find(t, repository)
			if *update {
				repository.Files = append(repository.Files, txtar.File{Name: "want", Data: []byte(findings)}, txtar.File{Name: "want PROJECT", Data: []byte(projectFile)})
				if err := os.WriteFile(name, txtar.Format(repository), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want["want"], findings); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want["want PROJECT"], projectFile); diff != "" {
				t.Errorf("PROJECT (-want +got):\n%s", diff)
			}
			again := &txtar.Archive{Comment: archive.Comment}
			for _, f := range repository.Files {
				if f.Name != project.File {
					again.Files = append(again.Files, f)
				}
			}
			again.Files = append(again.Files, txtar.File{Name: project.File, Data: []byte(projectFile)})
			if _, second := find(t, again); second != projectFile {
				t.Errorf("a repeat changes PROJECT:\n%s", cmp.Diff(projectFile, second))
			}
		})
	}
}

// find returns the findings, one a line, and PROJECT.
func find(t *testing.T, repository *txtar.Archive) (findings, projectFile string) {
	t.Helper()
	fsys := files(repository)
	var existing, migrated []byte
	if f := fsys[project.File]; f != nil {
		existing = f.Data
		var err error
		if migrated, err = migrate.ToVersion3(existing, fsys.ReadFile); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Folder: "fleet"}
	if strings.Contains(string(repository.Comment), "--main none") {
		o.Main = noMain
	}
	report, err := Find(fsys, existing, migrated, o)
	if err != nil {
		t.Fatalf("%v (%s)", err, fault.HintOf(err))
	}
	encode := report.Config.Encode
	if migrated != nil {
		encode = report.Config.EncodeCorrected
	}
	next, err := encode(migrated)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range report.Findings {
		fmt.Fprintf(&b, "%s | %s | %s | %s | %s\n", f.What, f.Value, f.Place(), f.Confidence, f.Note)
	}
	return strings.ReplaceAll(b.String(), " | \n", "\n"), string(next)
}

func files(archive *txtar.Archive) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range archive.Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
	}
	return fsys
}
