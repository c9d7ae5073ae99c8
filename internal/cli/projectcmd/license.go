package projectcmd

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/operon-dev/operon/internal/cli/command"
	"github.com/operon-dev/operon/internal/fault"
	"github.com/operon-dev/operon/internal/input"
)

// readLicense returns the content of the file of --license-file, or "". Plugins do not
// read files outside the project.
func readLicense(a *command.App, options map[string]any) (string, error) {
	name, _ := options["license-file"].(string)
	if name == "" {
		return "", nil
	}
	rejected := func(why any) error {
		return fault.Usage("name a file that contains a Go comment, such as the header of your files", "--license-file %s: %s", name, why)
	}
	file := name
	if !filepath.IsAbs(file) {
		file = filepath.Join(a.Dir, file)
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", rejected(fault.Reason(err))
	case !info.Mode().IsRegular() || info.Size() > maxLicense:
		return "", rejected(fmt.Sprintf("is not a text file of at most %d KiB", maxLicense>>10))
	}
	text, err := input.ReadFile(file, maxLicense)
	if err != nil {
		return "", rejected(fault.Reason(err))
	}
	return string(text), nil
}

// maxLicense is the maximum size of a license header, in bytes.
const maxLicense = 64 << 10
