package bundlecmd

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/finding"
	"github.com/operon-dev/operon/internal/olm/bundlecheck"
)

// runExternal runs programs with the folder of the bundle. Each prints its findings.
func runExternal(ctx context.Context, a *command.App, programs []string, place string, files map[string][]byte) ([]finding.Finding, error) {
	folder, cleanup, err := folderOf(a.Path(place), files)
	if err != nil {
		return nil, err
	}
	defer cleanup()
	var all []finding.Finding
	for _, program := range programs {
		var out bytes.Buffer
		cmd := exec.CommandContext(ctx, a.Path(program), folder)
		cmd.Dir, cmd.Env = a.Dir, a.Environ
		cmd.Stdout, cmd.Stderr = &out, a.Err
		if err := cmd.Run(); err != nil {
			return nil, fault.Failed("a validator prints what is wrong with the bundle, and exits with 0", "the external validator %s failed: %v", program, fault.Reason(err))
		}
		found, err := bundlecheck.External(files, out.Bytes())
		if err != nil {
			return nil, fault.Failed(`it must print JSON such as {"Name": "fleet", "Errors": [{"Type": "", "Level": "Error", "Field": "spec.icon", "BadValue": null, "Detail": "no icon"}], "Warnings": []}`,
				"the external validator %s did not print a ManifestResult: %v", program, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// folderOf returns the folder of a bundle. That of an image is temporary.
func folderOf(folder string, files map[string][]byte) (name string, cleanup func(), err error) {
	if info, err := os.Stat(filepath.Join(folder, "manifests")); err == nil && info.IsDir() {
		return folder, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "operon-bundle-")
	if err != nil {
		return "", nil, err
	}
	cleanup = func() { _ = os.RemoveAll(dir) }
	for file, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			cleanup()
			return "", nil, err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			cleanup()
			return "", nil, err
		}
	}
	return dir, cleanup, nil
}
