package merge

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		base, ours, theirs string
		want               string
		conflict           bool
	}{
		{
			name: "nothing changed",
			base: "a\nb\n", ours: "a\nb\n", theirs: "a\nb\n",
			want: "a\nb\n",
		},
		{
			name: "changes in different places",
			base: "a\nb\nc\nd\n", ours: "A\nb\nc\nd\n", theirs: "a\nb\nc\nD\n",
			want: "A\nb\nc\nD\n",
		},
		{
			name: "insertions and deletions",
			base: "a\nb\nc\nd\ne\n", ours: "a\nx\nb\nc\nd\ne\n", theirs: "a\nb\nc\ne\n",
			want: "a\nx\nb\nc\ne\n",
		},
		{
			name: "a common change is applied once, together with another one",
			base: "a\nb\nc\nd\n", ours: "a\nB\nc\nd\n", theirs: "a\nB\nc\nD\n",
			want: "a\nB\nc\nD\n",
		},
		{
			name: "the same lines added by both",
			base: "a\nz\n", ours: "a\nb\nz\n", theirs: "a\nb\nz\ny\n",
			want: "a\nb\nz\ny\n",
		},
		{
			name: "an equal change at different positions of equal lines",
			base: "a\nx\nx\nb\nc\n", ours: "a\nx\nx\nx\nb\nc\n", theirs: "a\nx\nx\nx\nb\nC\n",
			want:     "a\nx\nx\nx\nb\nC\n",
			conflict: false,
		},
		{
			name: "the same line changed to something else",
			base: "a\nb\nc\n", ours: "a\nmine\nc\n", theirs: "a\nnew\nc\n",
			want:     "a\n<<<<<<< yours\nmine\n=======\nnew\n>>>>>>> operon\nc\n",
			conflict: true,
		},
		{
			name: "adjacent changes are a conflict",
			base: "a\nb\nc\nd\n", ours: "a\nB\nc\nd\n", theirs: "a\nb\nC\nd\n",
			want:     "a\n<<<<<<< yours\nB\nc\n=======\nb\nC\n>>>>>>> operon\nd\n",
			conflict: true,
		},
		{
			name: "different insertions at one place are a conflict",
			base: "a\nb\n", ours: "a\nx\nb\n", theirs: "a\ny\nb\n",
			want:     "a\n<<<<<<< yours\nx\n=======\ny\n>>>>>>> operon\nb\n",
			conflict: true,
		},
		{
			name: "deleted here, changed there",
			base: "a\nb\nc\n", ours: "a\nc\n", theirs: "a\nB\nc\n",
			want:     "a\n<<<<<<< yours\n=======\nB\n>>>>>>> operon\nc\n",
			conflict: true,
		},
		{
			name: "common lines stay outside of a conflict",
			base: "a\n", ours: "h\n1\nx\nt\n", theirs: "h\n1\ny\nt\n",
			want:     "h\n1\n<<<<<<< yours\nx\n=======\ny\n>>>>>>> operon\nt\n",
			conflict: true,
		},
		{
			name: "a long common part divides a conflict",
			base: "", ours: "x\n1\n2\n3\n4\nu\n", theirs: "y\n1\n2\n3\n4\nv\n",
			want: "<<<<<<< yours\nx\n=======\ny\n>>>>>>> operon\n1\n2\n3\n4\n" +
				"<<<<<<< yours\nu\n=======\nv\n>>>>>>> operon\n",
			conflict: true,
		},
		{
			name: "a short common part does not",
			base: "", ours: "x\n1\nu\n", theirs: "y\n1\nv\nw\n",
			want:     "<<<<<<< yours\nx\n1\nu\n=======\ny\n1\nv\nw\n>>>>>>> operon\n",
			conflict: true,
		},
		{
			name: "one change of theirs between two of ours",
			base: "a\nb\nc\nd\ne\n", ours: "A\nb\nC\nd\nE\n", theirs: "a\nB\nc\nD\ne\n",
			want:     "<<<<<<< yours\nA\nb\nC\nd\nE\n=======\na\nB\nc\nD\ne\n>>>>>>> operon\n",
			conflict: true,
		},
		{
			name: "a missing final newline stays missing",
			base: "a\nb\nc", ours: "A\nb\nc", theirs: "a\nb\nc",
			want: "A\nb\nc",
		},
		{
			name: "a final newline is added",
			base: "a\nb\nc", ours: "A\nb\nc", theirs: "a\nb\nc\n",
			want: "A\nb\nc\n",
		},
		{
			name: "a conflict without a final newline",
			base: "a", ours: "b", theirs: "c",
			want:     "<<<<<<< yours\nb\n=======\nc\n>>>>>>> operon\n",
			conflict: true,
		},
		{
			name: "all with CRLF",
			base: "a\r\nb\r\nc\r\n", ours: "A\r\nb\r\nc\r\n", theirs: "a\r\nb\r\nC\r\n",
			want: "A\r\nb\r\nC\r\n",
		},
		{
			name: "a conflict with CRLF",
			base: "a\r\n", ours: "b\r\n", theirs: "c\r\n",
			want:     "<<<<<<< yours\r\nb\r\n=======\r\nc\r\n>>>>>>> operon\r\n",
			conflict: true,
		},
		{
			name: "checked out with CRLF",
			base: "a\r\nb\r\nc\r\n", ours: "A\r\nb\r\nc\r\n", theirs: "a\nb\nC\n",
			want: "A\r\nb\r\nC\r\n",
		},
		{
			name: "mixed line endings are compared like other text",
			base: "a\r\nb\nc\n", ours: "a\r\nb\nC\n", theirs: "A\r\nb\nc\n",
			want: "A\r\nb\nC\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, clean := Text([]byte(tt.base), []byte(tt.ours), []byte(tt.theirs))
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if clean == tt.conflict {
				t.Errorf("clean = %v", clean)
			}
		})
	}
}
