package goedit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCopyUse(t *testing.T) {
	t.Parallel()
	const head = "package scheme\n\nimport (\n\tclientgoscheme \"k8s.io/client-go/kubernetes/scheme\"\n\n\tapiv1 \"example.org/x/api/v1\"\n)\n\n"
	for name, test := range map[string]struct{ body, want string }{
		"blank assignment": {"func (b *Builder) WithAPI() *Builder {\n\t_ = apiv1.AddToScheme(b.scheme)\n\n\treturn b\n}\n",
			"func (b *Builder) WithAPI() *Builder {\n\t_ = apiv1.AddToScheme(b.scheme)\n\t_ = apiv2.AddToScheme(b.scheme)\n\n\treturn b\n}\n"},
		"wrapper": {"func f() {\n\tmust(clientgoscheme.AddToScheme(s))\n\tmust(apiv1.AddToScheme(s))\n\tmust(x.AddToScheme(s))\n}\n",
			"func f() {\n\tmust(clientgoscheme.AddToScheme(s))\n\tmust(apiv1.AddToScheme(s))\n\tmust(apiv2.AddToScheme(s))\n\tmust(x.AddToScheme(s))\n}\n"},
		"checked": {"func f() error {\n\tif err := apiv1.AddToScheme(s); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
			"func f() error {\n\tif err := apiv1.AddToScheme(s); err != nil {\n\t\treturn err\n\t}\n\tif err := apiv2.AddToScheme(s); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n"},
		"checked below": {"func f() error {\n\terr := apiv1.AddToScheme(s)\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
			"func f() error {\n\terr := apiv1.AddToScheme(s)\n\tif err != nil {\n\t\treturn err\n\t}\n\terr = apiv2.AddToScheme(s)\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n"},
		"returned": {"func f(s *S) error {\n\treturn apiv1.AddToScheme(s)\n}\n",
			"func f(s *S) error {\n\tif err := apiv2.AddToScheme(s); err != nil {\n\t\treturn err\n\t}\n\treturn apiv1.AddToScheme(s)\n}\n"},
		"list": {"var all = []F{\n\tclientgoscheme.AddToScheme,\n\tapiv1.AddToScheme,\n}\n",
			"var all = []F{\n\tclientgoscheme.AddToScheme,\n\tapiv1.AddToScheme,\n\tapiv2.AddToScheme,\n}\n"},
		"list on one line": {"var b = runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, apiv1.AddToScheme)\n",
			"var b = runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, apiv1.AddToScheme, apiv2.AddToScheme)\n"},
		"operator-sdk": {"func init() {\n\tall = append(all, apiv1.SchemeBuilder.AddToScheme)\n}\n",
			"func init() {\n\tall = append(all, apiv1.SchemeBuilder.AddToScheme, apiv2.AddToScheme)\n}\n"},
		"first function": {"func f() {\n\tg(apiv1.AddToScheme)\n}\n\nfunc old() {\n\tg(apiv1.AddToScheme)\n}\n",
			"func f() {\n\tg(apiv1.AddToScheme, apiv2.AddToScheme)\n}\n\nfunc old() {\n\tg(apiv1.AddToScheme)\n}\n"},
		"conditional": {"func f() {\n\tif on {\n\t\tmust(apiv1.AddToScheme(s))\n\t}\n}\n", ""},
		"several":     {"func f() error {\n\treturn errors.Join(apiv1.AddToScheme(s), clientgoscheme.AddToScheme(s))\n}\n", ""},
		"none":        {"func f() error {\n\treturn clientgoscheme.AddToScheme(s)\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse("scheme.go", []byte(head+test.body))
			if err != nil {
				t.Fatal(err)
			}
			ok, err := f.CopyUse("AddToScheme", []string{"example.org/x/api/v1", "example.org/x/api/v3"}, "apiv2", "example.org/x/api/v2")
			if err != nil || ok != (test.want != "") {
				t.Fatalf("ok %v, error %v", ok, err)
			}
			want := head + test.body
			if ok {
				want = strings.Replace(head, "api/v1\"\n", "api/v1\"\n\tapiv2 \"example.org/x/api/v2\"\n", 1) + test.want
			}
			got, err := f.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
