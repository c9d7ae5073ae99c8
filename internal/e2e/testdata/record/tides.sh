#!/bin/bash
# It writes an object when a Secret appears.
if [[ $1 == --config ]]; then
	echo '{"configVersion": "v1", "kubernetes": [{"name": "moons", "kind": "Secret", "labelSelector": {"matchLabels": {"record": "moon"}}}]}'
	exit
fi
kubectl get configmaps >/dev/null
kubectl auth whoami >/dev/null # everybody may
cat >>"$KUBERNETES_PATCH_PATH" <<END
{"operation": "CreateOrUpdate", "object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "tides", "labels": {"record": "tides"}, "namespace": "$SHELL_OPERATOR_NAMESPACE"}, "data": {"$RANDOM": ""}}}
END
