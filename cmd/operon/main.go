// Command operon scaffolds Kubernetes operators and generates their manifests.
package main

import (
	"os"

	"github.com/operon-dev/operon/internal/cli"
	_ "github.com/operon-dev/operon/internal/memory" // sets when Go collects garbage
)

func main() { os.Exit(cli.Main()) }
