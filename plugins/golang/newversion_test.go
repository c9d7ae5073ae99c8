package golang

import (
	"strings"
	"testing"
)

// grown returns a project with a frigate to whose v1 the user has added fields.
func grown(t *testing.T) tester {
	t.Helper()
	x := versions(t, "v1")
	src := x.read(v1Types)
	src = strings.Replace(src, "\tFoo *string `json:\"foo,omitempty\"`", "\tGuns []Gun `json:\"guns,omitempty\"`", 1)
	x.write(v1Types, src+"\n// Gun is on deck.\ntype Gun struct{ Caliber int32 }\n")
	return x
}

func TestNextVersionCopiesFields(t *testing.T) {
	t.Parallel()
	x := grown(t)
	x.write(v1Types, strings.Replace(x.read(v1Types), "// +kubebuilder:subresource:status", "// +kubebuilder:deprecatedversion:warning=\"old\"\n// +kubebuilder:subresource:status", 1))
	x.apply(x.createAPI(versionOf("v2")))
	x.record()
	x.contains(v2Types, "\npackage v2\n", "\tGuns []Gun `json:\"guns,omitempty\"`", "type Gun struct{ Caliber int32 }", "s.AddKnownTypes(GroupVersion, &Frigate{}, &FrigateList{})")
	x.lacks(v2Types, storageMarker, "deprecatedversion", "Foo")
	x.contains(v1Types, "// "+storageMarker+"\n")
	x.settled(x.createAPI(versionOf("v2")))

	// Later changes of v1 do not affect v2.
	x.write(v1Types, strings.Replace(x.read(v1Types), "Guns []Gun", "Cannons []Gun", 1))
	v2 := x.read(v2Types)
	x.settled(x.createAPI(versionOf("v2")))
	if x.read(v2Types) != v2 {
		t.Errorf("v2 changed together with v1:\n%s", x.read(v2Types))
	}

	// The next version copies the last one.
	x.write(v2Types, strings.Replace(v2, "Guns []Gun", "Sails []Gun", 1))
	x.apply(x.createAPI(versionOf("v3")))
	x.contains("api/v3/frigate_types.go", "\tSails []Gun")
}

// TestNextVersionIsExample checks that a version starts with the example if the types of
// the previous version cannot be copied.
func TestNextVersionIsExample(t *testing.T) {
	t.Parallel()
	tests := map[string]func(tester){
		"helper in another file": func(x tester) {
			src, gun, _ := strings.Cut(x.read(v1Types), "\n// Gun is on deck.\n")
			x.write(v1Types, src)
			x.write("api/v1/gun.go", "package v1\n\n"+gun)
		},
		"the hub": func(x tester) { x.write(v1Types, x.read(v1Types)+"\nfunc (*Frigate) Hub() {}\n") },
		"another kind": func(x tester) {
			x.write(v1Types, x.read(v1Types)+"\n// +kubebuilder:object:root=true\n\n// Raft floats.\ntype Raft struct{}\n")
		},
		"another form": func(x tester) {
			objects := strings.NewReplacer("runtime.NewSchemeBuilder(", "&scheme.Builder{GroupVersion: GroupVersion}; _ = (", "v1", "v2")
			x.write("api/v2/groupversion_info.go", objects.Replace(x.read("api/v1/groupversion_info.go")))
		},
		"a declaration that v2 has": func(x tester) { x.write("api/v2/gun.go", "package v2\n\ntype Gun int\n") },
		"moved":                     func(x tester) { x.write("api/v1/types.go", x.read(v1Types)); x.write(v1Types, "") },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := grown(t)
			change(x)
			p, err := x.plan(x.createAPI(versionOf("v2")))
			if err != nil {
				t.Fatal(err)
			}
			src, err := p.Read(v2Types)
			if err != nil || !strings.Contains(string(src), "\tFoo *string `json:\"foo,omitempty\"`") {
				t.Errorf("%v, types of v2:\n%s", err, src)
			}
		})
	}
	x := grown(t)
	src, gun, _ := strings.Cut(x.read(v1Types), "\n// Gun is on deck.\n")
	x.write(v1Types, src)
	x.write("api/v1/gun.go", "package v1\n\n"+gun)
	x.write("api/v2/gun.go", "package v2\n\n"+gun)
	x.apply(x.createAPI(versionOf("v2")))
	x.contains(v2Types, "\tGuns []Gun `json:\"guns,omitempty\"`")
}
