package scorecard

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operon-dev/operon/internal/fault"
)

// outputMarker is a file in each folder that operon has created for the output of a test. Only
// a folder with this file is emptied: labels name the folders, so one may be the user's.
const outputMarker = ".scorecard-output"

// OutputFolders returns the folders below dir for the output of tests that run as pods and have
// a storage, sorted. It changes nothing, and fails if one of them leads out of dir, or has files
// and is not operon's.
func OutputFolders(dir string, stages []v1alpha3.StageConfiguration) ([]string, error) {
	var folders []string
	for _, test := range List(stages).Items {
		if IsBuiltin(test.Spec) || test.Spec.Storage.Spec.MountPath.Path == "" {
			continue
		}
		folder := outputFolder(test.Spec)
		if folder == "." || !filepath.IsLocal(filepath.FromSlash(folder)) {
			return nil, fault.Usage("correct the labels suite and test", "the labels suite and test name %q, which is not a folder below %s", folder, dir)
		}
		folders = append(folders, folder)
	}
	slices.Sort(folders)
	folders = slices.Compact(folders)
	root, err := os.OpenRoot(dir)
	if len(folders) == 0 || errors.Is(err, fs.ErrNotExist) {
		return folders, nil
	}
	if err != nil {
		return nil, unusable(err)
	}
	defer func() { _ = root.Close() }()
	for _, folder := range folders {
		entries, err := fs.ReadDir(root.FS(), folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, unusable(err)
		}
		if len(entries) > 0 && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == outputMarker }) {
			return nil, fault.Usage("remove the folder if it is the output of operator-sdk or of an older operon; otherwise use --test-output with another folder, or other labels",
				"the output of a test goes to %s, which has files and lacks operon's file %s", filepath.Join(dir, folder), outputMarker)
		}
	}
	return folders, nil
}

// outputFolder returns the folder for the output of a test. Its labels name the folder.
func outputFolder(test v1alpha3.TestConfiguration) string {
	return path.Clean(strings.TrimLeft(path.Join(test.Labels["suite"], nameOf(test)), "/"))
}

func unusable(err error) error {
	return fault.Usage("use --test-output with another folder", "cannot write the output of tests: %v", err)
}

// EmptyFolders creates the folders below dir that [OutputFolders] returns, or removes what an
// earlier run has left there. Call it before all tests: a folder may be in the folder of another test.
func EmptyFolders(dir string, folders []string) error {
	for _, folder := range folders { // outer ones first
		if err := emptyFolder(dir, folder); err != nil {
			return unusable(err)
		}
	}
	return nil
}

func emptyFolder(dir, folder string) error {
	root, err := openBelow(dir, folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	// The marker comes first and stays, so that an interrupted command leaves a folder of operon.
	if err := root.WriteFile(outputMarker, []byte("operon scorecard empties this folder before it writes the output of the test.\n"), 0o644); err != nil {
		return err
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		if e.Name() != outputMarker {
			err = errors.Join(err, root.RemoveAll(e.Name()))
		}
	}
	return err
}

// isMarker reports whether a path in an archive would create a marker, in a file system that may
// ignore case. A test must not turn a folder into one that operon empties.
func isMarker(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.EqualFold(part, outputMarker) })
}
