#!/bin/sh
# Rendered by seams 0.1.0 for Kubernetes 1.37.2 on kubeadm.
# Profile agents sha256:950878ca1bfe5361c650af03bff8db3b8439f3f2b504dcf33a3aade810f52fe2
# Recipe node/ci-5k + churn/aggregated-tier + state/stock sha256:5b824a4b9b62090e7c350cbada43a8379707d724030742d86ad0f9e03a6f73fd
# Registers the groups of agents-example-dev with kube-apiserver, from then on served by the
# tier: v1.agents.example.dev.
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
for name in v1.agents.example.dev; do
	# An automatic one of before keeps its label through an apply.
	kubectl label apiservice "$name" kube-aggregator.kubernetes.io/automanaged-
	kubectl wait --for=condition=Available "apiservice/$name" --timeout=60s
done
