#!/usr/bin/env bash
# Installs kubectl, which the Makefile needs but does not install, and kind.
set -euo pipefail

kubectl=v1.37.1
os=$(go env GOOS)
arch=$(go env GOARCH)

go install sigs.k8s.io/kind@v0.33.0

cd "$(mktemp -d)"
for file in kubectl kubectl.sha256; do
  curl -fsSLO "https://dl.k8s.io/release/$kubectl/bin/$os/$arch/$file"
done
echo "$(cat kubectl.sha256)  kubectl" | sha256sum --check --quiet
install -m 0755 kubectl /usr/local/bin/kubectl

kind version
kubectl version --client
