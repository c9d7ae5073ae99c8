package ship

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// own creates obj, of which name and namespace are known, with the fields that set
// gives it; one that is there is updated where set changes it, and only then. owner
// becomes its controller: Kubernetes removes obj together with owner, and an obj
// that another controller has is an error.
//
// Before set is called, obj holds what the cluster has. So set should assign the
// fields that the owner decides about one by one, and leave all others to the
// defaults of the API server and to other controllers.
func own(ctx context.Context, c client.Client, owner, obj client.Object, set func() error) error {
	_, err := controllerutil.CreateOrUpdate(ctx, c, obj, func() error {
		if err := set(); err != nil {
			return err
		}
		return controllerutil.SetControllerReference(owner, obj, c.Scheme())
	})
	return err
}
