package kops_test

import (
	"testing"

	"github.com/kubeseams/seams/generators/kops"
	"github.com/kubeseams/seams/internal/finding"
)

func TestSet(t *testing.T) {
	spec := map[string]any{"etcdClusters": []any{map[string]any{"name": "events"}, map[string]any{"name": "main"}}}
	for _, tc := range []struct {
		setting  kops.Setting
		want     string
		wantsWhy bool
	}{
		{setting: kops.Setting{Path: "spec.kubeAPIServer.maxRequestsInflight", Old: float64(400), New: float64(640)}, want: "spec.kubeAPIServer.maxRequestsInflight=640"},
		{setting: kops.Setting{Path: "spec.kubeAPIServer.goawayChance", New: "0.001"}, want: "spec.kubeAPIServer.goawayChance=0.001"},
		{setting: kops.Setting{Path: "spec.kubeAPIServer.watchCache", New: true}, want: "spec.kubeAPIServer.watchCache=true"},
		{setting: kops.Setting{Path: "spec.kubeControllerManager.concurrentRcSyncs", New: float64(5)}, want: "spec.kubeControllerManager.concurrentRCSyncs=5"},
		{setting: kops.Setting{Path: "spec.kubeAPIServer.featureGates.ShardedListAndWatch", New: "true"}, want: "spec.kubeAPIServer.featureGates=ShardedListAndWatch=true"},
		{setting: kops.Setting{Path: "spec.kubeAPIServer.runtimeConfig.resource.k8s.io/v1", New: "true"}, want: "spec.kubeAPIServer.runtimeConfig=resource.k8s.io/v1=true"},
		{setting: kops.Setting{Path: "spec.etcdClusters[main].manager.env[ETCD_QUOTA_BACKEND_BYTES]", New: "8"}, want: "spec.etcdClusters[1].manager.env=ETCD_QUOTA_BACKEND_BYTES=8"},
		{setting: kops.Setting{Path: "spec.kubeAPIServer.watchCacheSizes", Entry: "leases", New: "leases#0"}, want: "spec.kubeAPIServer.watchCacheSizes=leases#0"},
		{setting: kops.Setting{Path: "spec.kubeAPIServer.watchCacheSizes", Entry: "leases", Old: "leases#9", New: "leases#0"}, wantsWhy: true},
		{setting: kops.Setting{Path: "spec.etcdClusters[main].manager.env[Q]", Old: "1", New: "8"}, wantsWhy: true},
		{setting: kops.Setting{Path: "spec.etcdClusters[leases]", New: map[string]any{"name": "leases"}}, wantsWhy: true},
		{setting: kops.Setting{Path: "spec.kubeAPIServer.env[GOGC]", New: "50"}, wantsWhy: true},
		{setting: kops.Setting{Path: "spec.kubeAPIServer.auditLogPath", New: "a,b"}, wantsWhy: true},
		{setting: kops.Setting{Path: "spec.kubelet.maxPods", Old: float64(1)}, wantsWhy: true},
	} {
		set, why := kops.Set(spec, tc.setting)
		if set != tc.want || (why != "") != tc.wantsWhy {
			t.Errorf("%+v: %q, %q; want %q", tc.setting, set, why, tc.want)
		}
	}
}

func TestFlagOf(t *testing.T) {
	for _, f := range kops.Fields() {
		if program, flag, ok := kops.FlagOf(f.Block, f.Name); !ok || program == "" || flag == "" {
			t.Errorf("%s.%s: %q %q", f.Block, f.Name, program, flag)
		}
	}
	if _, _, ok := kops.FlagOf("kubelet", "maxPods"); ok {
		t.Error("the kubelet's fields are no flags")
	}
}

func TestFeatureFlags(t *testing.T) {
	p := sharded(t)
	p.Tiers[0].Replicas = 5
	_, fs := merge(t, userDocuments(t), p)
	if flags := kops.FeatureFlags(fs); len(flags) != 1 || flags[0] != "+APIServerNodes" {
		t.Errorf("flags are %q", flags)
	}
	if flags := kops.FeatureFlags([]finding.Finding{{Code: "kops-changed"}}); flags != nil {
		t.Errorf("flags are %q", flags)
	}
}
