module github.com/kubeseams/seams/hack/binaries/coredns

go 1.26.0

require github.com/coredns/coredns v1.14.6
