//go:build deps

// Package deps keeps modules in go.mod while the packages that use them are written.
package deps

import (
	_ "cuelang.org/go/cue/cuecontext"
	_ "cuelang.org/go/cue/load"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/go-jsonnet"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/pflag"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/term"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	_ "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	_ "k8s.io/apiserver/pkg/server/options"
	_ "k8s.io/client-go/kubernetes"
	_ "k8s.io/component-base/featuregate"
	_ "k8s.io/kube-scheduler/config/v1"
	_ "k8s.io/kubelet/config/v1beta1"
	_ "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4"
	_ "k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/validation"
	_ "k8s.io/kubernetes/cmd/kubeadm/app/componentconfigs"
	_ "k8s.io/kubernetes/cmd/kubeadm/app/constants"
	_ "k8s.io/kubernetes/cmd/kubeadm/app/util/config"
	_ "k8s.io/kubernetes/cmd/kubeadm/app/util/patches"
	_ "k8s.io/kubernetes/pkg/apis/core/validation"
	_ "k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	_ "k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
	_ "pgregory.net/rapid"
	_ "sigs.k8s.io/kind/pkg/cluster"
	_ "sigs.k8s.io/yaml"
)
