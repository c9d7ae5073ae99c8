//go:build testall

package projects

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/testkit/operontest"
	"github.com/operon-dev/operon/internal/testkit/peertest"
	"github.com/operon-dev/operon/internal/testkit/projecttest"
	"github.com/operon-dev/operon/internal/testkit/servertest"
	"github.com/operon-dev/operon/internal/testkit/treetest"
)

// fields replace the example field of a new kind.
const fields = `	// foo is a text.
	// +optional
	Foo *string ` + "`json:\"foo,omitempty\"`" + `
	// crew is the number of sailors.
	// +optional
	Crew int32 ` + "`json:\"crew,omitempty\"`" + `
	// guns are on deck.
	// +optional
	Guns []Gun ` + "`json:\"guns,omitempty\"`" + `
	// flags by occasion.
	// +optional
	Flags map[string]Flag ` + "`json:\"flags,omitempty\"`" + `
	// flagship is the gun that is fired first.
	// +optional
	First *Gun ` + "`json:\"first,omitempty\"`" + `
	// ports are by name or number.
	// +optional
	Ports map[Flag][]intstr.IntOrString ` + "`json:\"ports,omitempty\"`" + `
	// memory is what the crew has.
	// +optional
	Memory resource.Quantity ` + "`json:\"memory,omitempty\"`" + `
	// since is the day of the launch.
	// +optional
	Since *metav1.Time ` + "`json:\"since,omitempty\"`" + `
}

// Flag is the name of a flag.
type Flag string

// Gun is a gun.
type Gun struct {
	// caliber in millimetres.
	Caliber int32 ` + "`json:\"caliber\"`" + `
	// flag on the gun.
	// +optional
	Flag *Flag ` + "`json:\"flag,omitempty\"`" + `
}
`

// TestConversionFindsLostFields removes lines from a scaffolded conversion. The scaffolded
// tests must fail and name the lost field: the unit test for all fields, and the specs on
// the API server for the kind of the sample.
func TestConversionFindsLostFields(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fleet")
	treetest.MakeDir(t, dir)
	operontest.Run(t, dir, "init", "--domain", "example.org", "--repo", "example.org/fleet", "--license", "none")
	operontest.Run(t, dir, "create", "api", "--group", "ship", "--version", "v1", "--kind", "Frigate")
	operontest.Run(t, dir, "create", "api", "--group", "ship", "--version", "v2", "--kind", "Frigate", "--controller=false")
	for _, name := range []string{"api/v1/frigate_types.go", "api/v2/frigate_types.go"} {
		treetest.Replace(t, filepath.Join(dir, name), "\t// foo is an example field. Replace it with the fields of a Frigate.\n\t// +optional\n\tFoo *string `json:\"foo,omitempty\"`\n}\n", fields)
		treetest.Replace(t, filepath.Join(dir, name), "import (\n", "import (\n\t\"k8s.io/apimachinery/pkg/api/resource\"\n\t\"k8s.io/apimachinery/pkg/util/intstr\"\n")
		operontest.Exec(t, dir, "gofmt", "-w", name)
	}
	operontest.Run(t, dir, "create", "webhook", "--group", "ship", "--version", "v2", "--kind", "Frigate", "--conversion")
	if out := operontest.Exec(t, dir, "gofmt", "-l", "."); out != "" {
		t.Errorf("gofmt would change:\n%s", out)
	}
	projecttest.Test(t, dir) // the tests pass before the conversion is broken

	var key []string
	for name, content := range treetest.Read(t, dir) {
		key = append(key, name+"\n"+content)
	}
	slices.Sort(key)
	key = append(append(key, peertest.Sources(t)...), servertest.Key(t), peertest.Go(t).Identity())
	for _, problem := range peertest.Cached(t, key, func() ([]string, bool) {
		problems := missed(t, dir)
		return problems, len(problems) == 0
	}) {
		t.Error(problem)
	}
}

const conversion = "api/v1/frigate_conversion.go"

// missed removes lines from the conversion of a project, and returns a text for each loss that its tests do not
// report. What they print follows from the files and the tools.
func missed(t *testing.T, dir string) (problems []string) {
	t.Helper()
	expect := func(name, out string, err error, want ...string) {
		for _, text := range want {
			if err == nil || !strings.Contains(out, text) {
				problems = append(problems, fmt.Sprintf("%s: %v; the output of the test lacks %q:\n%s", name, err, text, out))
			}
		}
	}
	const thereAndBack = "and back (-before +after):"
	was := treetest.ReadFile(t, filepath.Join(dir, conversion))
	defects := []struct{ name, old, new, want string }{
		{"field", "\tout.Crew = in.Crew\n", "", `-  "crew":`},
		{"nested field", "\tout.Caliber = in.Caliber\n", "", `"caliber": 0`},
		{"element", "\t\tconvertGunToV2(&in.Guns[i], &out.Guns[i])\n", "\t\tconvertGunToV2(&in.Guns[0], &out.Guns[i])\n", `"caliber":`},
		{"metadata", "\tdst.ObjectMeta = src.ObjectMeta\n", "", `-  "`},
	}
	for _, d := range defects { // a variable selects one of them, so that the tests are linked once
		treetest.Replace(t, filepath.Join(dir, conversion), d.old, fmt.Sprintf("if os.Getenv(\"DEFECT\") == %q {\n%s} else {\n%s}\n", d.name, d.new, d.old))
	}
	treetest.Replace(t, filepath.Join(dir, conversion), "import (\n", "import (\n\t\"os\"\n")
	defective := filepath.Join(t.TempDir(), "v1.test")
	operontest.Exec(t, dir, "go", "test", "-c", "-o", defective, "./api/v1")
	operontest.Exec(t, filepath.Join(dir, "api", "v1"), defective)
	for _, d := range defects {
		cmd := exec.Command(defective)
		cmd.Dir, cmd.Env = filepath.Join(dir, "api", "v1"), operontest.Environ("DEFECT="+d.name)
		out, err := cmd.CombinedOutput()
		expect(d.name, string(out), err, d.want, thereAndBack)
	}
	treetest.WriteFile(t, filepath.Join(dir, conversion), was)

	const types = "api/v2/frigate_types.go"
	treetest.Replace(t, filepath.Join(dir, types), "\tCrew int32", "\tSails int32 `json:\"sails,omitempty\"`\n\tCrew int32")
	out, err := projecttest.GoTest(t, dir, "./api/v1")
	expect("new field", out, err, `-  "sails":`, thereAndBack)
	treetest.Replace(t, filepath.Join(dir, types), "\tSails int32 `json:\"sails,omitempty\"`\n", "")

	treetest.Replace(t, filepath.Join(dir, "config/samples/ship_v1_frigate.yaml"), "spec: {}\n", "spec:\n  foo: bar\n")
	treetest.Replace(t, filepath.Join(dir, conversion), "\tout.Foo = in.Foo\n", "")
	out, err = projecttest.GoTest(t, dir, "./internal/webhook/v2")
	expect("spec", out, err, "the spec before (-) and after (+)")
	return problems
}
