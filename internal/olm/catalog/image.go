package catalog

import (
	"path"
	"strings"
)

// The folder of a catalog in its image, and the label that names it.
const (
	ImageDir = "configs"
	DirLabel = "operators.operatorframework.io.index.configs.v1"
)

// The program that serves a catalog in an image, and its arguments.
var (
	Entrypoint = []string{"/bin/opm"}
	Serve      = []string{"serve", "/" + ImageDir}
)

// Labels returns the labels of the image of a catalog.
func Labels() map[string]string { return map[string]string{DirLabel: "/" + ImageDir} }

// Dockerfile returns a Dockerfile for the catalog in dir, a path in the build context. The base
// has opm; "" is an image with the files only.
func Dockerfile(dir, base string) []byte {
	add := "COPY " + path.Clean(dir) + " /" + ImageDir + "\n"
	label := "# Where OLM finds the catalog.\nLABEL " + DirLabel + "=/" + ImageDir + "\n"
	if base == "" {
		return []byte("FROM scratch\n" + add + "\n" + label)
	}
	return []byte(strings.NewReplacer("BASE", base, "ADD\n", add, "LABEL\n", label).Replace(`# opm reads the catalog once, so that its pod starts fast.
FROM BASE AS cache
ADD
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM BASE
COPY --from=cache /configs /configs
COPY --from=cache /tmp/cache /tmp/cache
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]

LABEL
`))
}
