package goedit

import (
	"go/ast"
	"go/token"
)

// Anchor is a place where Insert may put lines.
type Anchor struct {
	what string // how messages name what the file must have
	find func(*File) (place, bool)
}

// Has reports whether the file has the place.
func (f *File) Has(a Anchor) bool {
	_, ok := a.find(f)
	return ok
}

const scaffoldMarker = "+kubebuilder:scaffold:"

// Marker is the place above the comment "// +kubebuilder:scaffold:<name>". The
// comment stands alone on its line; the form "//+kubebuilder" counts too.
func Marker(name string) Anchor {
	return Anchor{
		what: "the marker " + scaffoldMarker + name,
		find: func(f *File) (place, bool) {
			if c := f.marker(name, token.NoPos, token.NoPos); c != nil {
				return f.above(c.Pos()), true
			}
			return place{}, false
		},
	}
}

// BeforeCall is the place before the statement of func fn that contains the
// first call of call, and before the comment on top of that statement. A call
// with a dot ("mgr.Start") is compared whole; one without ("AddToScheme") is
// compared with the last name of what is called. The outermost statement is
// meant, except that the place stays where the name before the first dot is
// declared.
//
// As test suites have it, fn may also be a function that is called on package
// level with a function literal: var _ = BeforeSuite(func() { ... }).
func BeforeCall(fn, call string) Anchor {
	return Anchor{
		what: "a call of " + call + " in func " + fn,
		find: func(f *File) (place, bool) {
			for _, body := range f.bodies(fn) {
				if calls := findCalls(body, call); len(calls) > 0 {
					list, i := statement(body.List, calls[0], call)
					return f.beforeStmt(body, list, i), true
				}
			}
			return place{}, false
		},
	}
}

// AfterCall is the place after the last statement of func fn that contains a
// call of call, and after the statements on the next lines that look at what
// that statement assigned (an error check). Both names are as in BeforeCall.
func AfterCall(fn, call string) Anchor {
	return Anchor{
		what: "a call of " + call + " in func " + fn,
		find: func(f *File) (place, bool) {
			for _, body := range f.bodies(fn) {
				if calls := findCalls(body, call); len(calls) > 0 {
					list, i := statement(body.List, calls[len(calls)-1], call)
					return f.afterStmt(body, list, i), true
				}
			}
			return place{}, false
		},
	}
}

// EndOfFunc is the place before the closing brace of func fn, or before the
// return statement that ends it. fn is as in BeforeCall.
func EndOfFunc(fn string) Anchor {
	return Anchor{
		what: "the function " + fn,
		find: func(f *File) (place, bool) {
			bodies := f.bodies(fn)
			if len(bodies) == 0 {
				return place{}, false
			}
			body := bodies[0]
			if n := len(body.List); n > 0 {
				if _, ok := body.List[n-1].(*ast.ReturnStmt); ok {
					return f.beforeStmt(body, body.List, n-1), true
				}
			}
			p := f.above(body.Rbrace)
			p.indent += "\t"
			p.folded = f.folded(body)
			return p, true
		},
	}
}
