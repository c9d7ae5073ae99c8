package goedit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/internal/fault"
)

func TestMarkType(t *testing.T) {
	t.Parallel()
	const head = "package v1\n\nimport \"fmt\"\n\n"
	tests := []struct {
		name    string
		src     string
		want    string
		unclean bool
	}{
		{
			name: "into the marker block above the doc comment",
			src:  "// +kubebuilder:object:root=true\n// +kubebuilder:subresource:status\n\n// Frigate is a ship.\ntype Frigate struct{}\n",
			want: "// +kubebuilder:storageversion\n// +kubebuilder:object:root=true\n// +kubebuilder:subresource:status\n\n// Frigate is a ship.\ntype Frigate struct{}\n",
		},
		{
			name: "between the text and the markers of a doc comment",
			src:  "// Frigate is a ship.\n// +optional\n// +kubebuilder:object:root=true\ntype Frigate struct{}\n",
			want: "// Frigate is a ship.\n// +optional\n// +kubebuilder:storageversion\n// +kubebuilder:object:root=true\ntype Frigate struct{}\n",
		},
		{
			name: "above a doc comment without markers",
			src:  "// Frigate is a ship.\ntype Frigate struct{}\n",
			want: "// +kubebuilder:storageversion\n// Frigate is a ship.\ntype Frigate struct{}\n",
		},
		{
			name: "above a doc comment that another line would change",
			src:  "//\tcode\n//\n// Frigate is a ship.\ntype Frigate struct{}\n",
			want: "// +kubebuilder:storageversion\n\n//\tcode\n//\n// Frigate is a ship.\ntype Frigate struct{}\n",
		},
		{
			name: "above a bare type",
			src:  "type Sloop int\n\ntype Frigate struct{}\n",
			want: "type Sloop int\n\n// +kubebuilder:storageversion\ntype Frigate struct{}\n",
		},
		{
			name: "a comment without markers above is kept",
			src:  "// EDIT THIS FILE\n\n// Frigate is a ship.\ntype Frigate struct{}\n",
			want: "// EDIT THIS FILE\n\n// +kubebuilder:storageversion\n// Frigate is a ship.\ntype Frigate struct{}\n",
		},
		{
			name: "the markers of another declaration are not read",
			src:  "// +kubebuilder:object:root=true\ntype Sloop struct{} // +kubebuilder:x\n\ntype Frigate struct{}\n",
			want: "// +kubebuilder:object:root=true\ntype Sloop struct{} // +kubebuilder:x\n\n// +kubebuilder:storageversion\ntype Frigate struct{}\n",
		},
		{
			name: "only the closest block is read",
			src:  "// +kubebuilder:validation:Optional\n\n// note\n\n// Frigate is a ship.\ntype Frigate struct{}\n",
			want: "// +kubebuilder:validation:Optional\n\n// note\n\n// +kubebuilder:storageversion\n// Frigate is a ship.\ntype Frigate struct{}\n",
		},
		{
			name: "in a group of types",
			src:  "// +kubebuilder:object:root=true\n\ntype (\n\t// Sloop is small.\n\tSloop int\n\n\t// +kubebuilder:object:root=true\n\n\t// Frigate is a ship.\n\tFrigate struct{}\n)\n",
			want: "// +kubebuilder:object:root=true\n\ntype (\n\t// Sloop is small.\n\tSloop int\n\n\t// +kubebuilder:storageversion\n\t// +kubebuilder:object:root=true\n\n\t// Frigate is a ship.\n\tFrigate struct{}\n)\n",
		},
		{
			name: "first in a group of types",
			src:  "// +kubebuilder:object:root=true\ntype (\n\tFrigate struct{}\n)\n",
			want: "// +kubebuilder:object:root=true\ntype (\n\t// +kubebuilder:storageversion\n\tFrigate struct{}\n)\n",
		},
		{
			name: "already present, in the old form",
			src:  "//+kubebuilder:storageversion\n\n// Frigate is a ship.\ntype Frigate struct{}\n",
			want: "//+kubebuilder:storageversion\n\n// Frigate is a ship.\ntype Frigate struct{}\n",
		},
		{
			name:    "CRLF",
			src:     "// +kubebuilder:object:root=true\r\ntype Frigate struct{}\r\n",
			want:    "// +kubebuilder:storageversion\r\n// +kubebuilder:object:root=true\r\ntype Frigate struct{}\r\n",
			unclean: true,
		},
		{
			name:    "after code on its line",
			src:     "var x int; type Frigate struct{}\n",
			want:    "var x int; \n// +kubebuilder:storageversion\ntype Frigate struct{}\n",
			unclean: true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src, want := head+tt.src, head+tt.want
			if tt.name == "CRLF" {
				src, want = "package v1\r\n\r\n"+tt.src, "package v1\r\n\r\n"+tt.want
			}
			if formatted([]byte(src)) == tt.unclean {
				t.Errorf("unclean = %v", tt.unclean)
			}
			for _, marker := range []string{"+kubebuilder:storageversion", "// +kubebuilder:storageversion"} {
				got := edited(t, src, func(f *File) error { return f.MarkType("Frigate", marker) })
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("source (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestMarkTypeUnknown(t *testing.T) {
	t.Parallel()
	f, err := Parse("api/v1/frigate_types.go", []byte("package v1\n"))
	if err != nil {
		t.Fatal(err)
	}
	err = f.MarkType("Frigate", "+kubebuilder:storageversion")
	if err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff("api/v1/frigate_types.go does not declare type Frigate", err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("add this line by hand above the type: // +kubebuilder:storageversion", fault.HintOf(err)); diff != "" {
		t.Errorf("hint (-want +got):\n%s", diff)
	}
}
