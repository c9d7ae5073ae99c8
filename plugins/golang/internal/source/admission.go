package source

import "github.com/operon-dev/operon/internal/project"

// AdmissionTypes returns the names of the types with the methods of r's admission webhooks: those of new webhooks, and
// those that operon and kubebuilder before v4.16 wrote.
func AdmissionTypes(r project.Resource) []string {
	return []string{r.Kind + "Defaulter", r.Kind + "Validator", r.Kind + "CustomDefaulter", r.Kind + "CustomValidator"}
}
