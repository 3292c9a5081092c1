// The programs below are compiled against one Kubernetes minor at a time:
// hack/update-minors.sh copies them to a scratch directory and writes the
// requirements of that minor into a go.mod there. This file only keeps them
// out of the main module.
module github.com/kubeseams/seams/hack/minors/flags

go 1.26.0
