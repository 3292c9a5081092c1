#!/bin/sh
# Rendered by seams 0.1.0 for Kubernetes 1.36.3 on kops 1.36.2, aws.
# Profile platform sha256:62f58aa081c195b08d9e88e59c603df6e11cd64390b1616bde031944770ef16e
# Recipe node/stock + churn/stock + state/partitioned sha256:e5e2d8dbfb72010358da5043072dde5a58dc0d49158eadfb1766395948923035
# Registers the groups of aws-infra-example-dev with kube-apiserver, from then on served by the
# tier: v1.aws.infra.example.dev, v1.certs.example.dev, v1.db.example.dev, v1.gitops.example.dev, v1.mesh.example.dev, v1.monitoring.example.dev, v1.secrets.example.dev.
# The first argument is the certificate of the tiers' authority, which pki.sh
# made; only its public half is used. The CRDs of the groups are in the tier before:
# a version that the tier does not know never becomes available. In the main server
# they come after, if at all.
set -eu

ca=${1:?usage: apiservices.sh CA_CERTIFICATE}
dir=$(cd "$(dirname "$0")" && pwd)
openssl x509 -in "$ca" -noout
bundle=$(base64 <"$ca" | tr -d '\n')
kubectl patch --local --filename="$dir/apiservices.yaml" --type=merge --output=json \
	--patch="{\"metadata\":{\"labels\":{\"kube-aggregator.kubernetes.io/automanaged\":null}},\"spec\":{\"caBundle\":\"$bundle\"}}" |
	kubectl apply --server-side --force-conflicts --field-manager=seams --filename=-
for name in v1.aws.infra.example.dev v1.certs.example.dev v1.db.example.dev v1.gitops.example.dev v1.mesh.example.dev v1.monitoring.example.dev v1.secrets.example.dev; do
	# An automatic one of before keeps its label through an apply.
	kubectl label apiservice "$name" kube-aggregator.kubernetes.io/automanaged-
	kubectl wait --for=condition=Available "apiservice/$name" --timeout=60s
done
