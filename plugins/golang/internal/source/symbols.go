package source

import (
	"github.com/operon-dev/operon/internal/edit/goedit"
)

// Import paths of libraries that operators use.
const (
	ControllerRuntime = "sigs.k8s.io/controller-runtime"
	ClientScheme      = "k8s.io/client-go/kubernetes/scheme"

	managers = ControllerRuntime + "/pkg/manager"
)

// Symbols of the manager. They identify its variables, whatever their names are.
var (
	MakeManager = []goedit.Symbol{{Path: ControllerRuntime, Name: "NewManager"}, {Path: managers, Name: "New"}}  // the calls that make it
	ManagerType = []goedit.Symbol{{Path: ControllerRuntime, Name: "Manager"}, {Path: managers, Name: "Manager"}} // its type
)
