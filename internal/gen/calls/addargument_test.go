package calls

import "testing"

// TestAddArgument adds arguments where a line has the generator and the paths.
func TestAddArgument(t *testing.T) {
	t.Parallel()
	const before = "manifests:\n\t\"$(CONTROLLER_GEN)\" rbac:roleName=r crd webhook paths=\"./...\" output:dir=x\n\tcontroller-gen crd:maxDescLen=0 paths=./a\r\n\tcontroller-gen object paths=./crd\n\tcontroller-gen crd \\\n\t\tpaths=./...\n"
	for line, want := range map[int]string{
		0: "", 1: "", 4: "", 5: "", 99: "",
		2: "manifests:\n\t\"$(CONTROLLER_GEN)\" rbac:roleName=r crd webhook new paths=\"./...\" output:dir=x\n\tcontroller-gen crd:maxDescLen=0 paths=./a\r\n\tcontroller-gen object paths=./crd\n\tcontroller-gen crd \\\n\t\tpaths=./...\n",
		3: "manifests:\n\t\"$(CONTROLLER_GEN)\" rbac:roleName=r crd webhook paths=\"./...\" output:dir=x\n\tcontroller-gen crd:maxDescLen=0 new paths=./a\r\n\tcontroller-gen object paths=./crd\n\tcontroller-gen crd \\\n\t\tpaths=./...\n",
	} {
		got, ok := AddArgument([]byte(before), line, "crd", "new")
		if ok != (want != "") || ok && string(got) != want || !ok && string(got) != before {
			t.Errorf("line %d: %t\n%s", line, ok, got)
		}
	}
}
