package goedit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDropCall(t *testing.T) {
	t.Parallel()
	const head = "package p\n\nvar _ = BeforeSuite(func() {\n"
	tests := []struct{ name, src, want string }{
		{
			"with the check of the error",
			"\ta()\n\n\terr = SetupPod(mgr)\n\tExpect(err).NotTo(HaveOccurred())\n\n\t// here\n", "\ta()\n\n\t// here\n",
		},
		{"the user's comments stay", "\t// mine\n\tExpect(SetupPod(mgr)).To(Succeed())\n\tb()\n", "\t// mine\n\tb()\n"},
		{"several", "\tSetupPod(a)\n\tb()\n\tSetupPod(b)\n", "\tb()\n"},
		{"none", "\tb()\n", "\tb()\n"},
		{"other code on the line", "\ta(); SetupPod(b)\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse("suite_test.go", []byte(head+tt.src+"})\n"))
			if err != nil {
				t.Fatal(err)
			}
			err = f.DropCall("BeforeSuite", "SetupPod")
			if (err != nil) != (tt.want == "") {
				t.Fatal(err)
			}
			if got, err := f.Bytes(); err == nil {
				if d := cmp.Diff(head+tt.want+"})\n", string(got)); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			}
		})
	}
}
