//go:build rig

package rig_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeseams/seams/internal/prove/rig"
)

// Three hosts have three members of each store, and apiservers of all tiers
// that agree. The loss of one member of a store in memory loses nothing.
func TestThreeHosts(t *testing.T) {
	files := render(t, "three.cue", "--rung", "node/node-tier")
	r := start(t, rig.Options{Files: files})
	want := 0
	for _, f := range files {
		if strings.HasPrefix(f.Path, "manifests/") {
			want++
		}
	}
	if n := len(r.Processes()); n != want {
		t.Errorf("%d processes of %d manifests", n, want)
	}
	if err := write(t.Context(), client(t, r, "kube-apiserver@cp-2"), "one"); err != nil {
		t.Fatal(err)
	}
	routed(t, r, "one")
	for _, p := range r.Processes() {
		if p.Component != "kube-apiserver" {
			continue
		}
		if _, err := client(t, r, p.Name).CoordinationV1().Leases("default").Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
	lost := r.Process("etcd-leases@cp-3")
	if !slices.Contains(lost.Argv, "--initial-cluster-state=new") {
		t.Errorf("the first start is %v", lost.Argv)
	}
	if err := lost.Wipe(); err != nil {
		t.Fatal(err)
	}
	// Two of three are a majority.
	if err := write(t.Context(), client(t, r, "kube-apiserver-nodes@cp-1"), "two"); err != nil {
		t.Fatal(err)
	}
	routed(t, r, "two")
	rejoin(t, r, lost)
	if !slices.Contains(lost.Argv, "--initial-cluster-state=existing") {
		t.Errorf("the later start is %v", lost.Argv)
	}
	if out := etcdctl(t, of(t, r, lost), "get", "/registry/leases/default/", "--prefix", "--keys-only", "--consistency=s"); len(strings.Fields(out)) != 2 {
		t.Errorf("the member that lost its data has %q", out)
	}
	allLost(t, r)
}

// allLost takes all members of the store in memory away together. It comes back
// empty, and is written to through every tier.
func allLost(t *testing.T, r *rig.Rig) {
	t.Helper()
	for _, p := range r.Members("leases") {
		if err := p.Wipe(); err != nil {
			t.Fatal(err)
		}
	}
	// The manifests for the time after the first start do not bring it back.
	if err := r.Members("leases")[0].Restart(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot fetch cluster info from peer urls") {
		t.Errorf("a member whose whole cluster is gone: %v", err)
	}
	if err := r.Renew(t.Context(), "leases"); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.Members("leases") {
		if !slices.Contains(p.Argv, "--initial-cluster-state=new") {
			t.Errorf("a new store begins with %v", p.Argv)
		}
	}
	if n := keys(t, r, "leases", "/registry/leases/default/"); n != 0 {
		t.Errorf("%d keys in a store that lost everything", n)
	}
	for i, name := range []string{"kube-apiserver@cp-3", "kube-apiserver-nodes@cp-1"} {
		c := client(t, r, name)
		eventually(t, "a write through "+name, time.Minute, func() error {
			return write(t.Context(), c, fmt.Sprintf("again-%d-%d", i, time.Now().UnixNano()))
		})
	}
}

// of is the way to one member of a store.
func of(t *testing.T, r *rig.Rig, member *rig.Process) rig.EtcdClient {
	t.Helper()
	c, err := r.EtcdClient(member.Store)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hosts() {
		if h.Name == member.Host {
			c.Endpoints = slices.DeleteFunc(c.Endpoints, func(url string) bool { return !strings.Contains(url, "//"+h.Address+":") })
		}
	}
	return c
}

// rejoin takes a member that has lost its data in again, by the steps of the
// rollout: remove it, add it as a learner, start it, promote it.
func rejoin(t *testing.T, r *rig.Rig, lost *rig.Process) {
	t.Helper()
	var through rig.EtcdClient
	for _, p := range r.Members(lost.Store) {
		if p != lost {
			through = of(t, r, p)
		}
	}
	id, peer := member(t, through, lost.Host)
	etcdctl(t, through, "member", "remove", id)
	etcdctl(t, through, "member", "add", lost.Host, "--learner", "--peer-urls="+peer)
	id, _ = member(t, through, "")
	back := make(chan error, 1)
	// A learner is not ready before it is promoted.
	go func() { back <- lost.Restart(t.Context()) }()
	eventually(t, "promotion", time.Minute, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		args := []string{"--endpoints", strings.Join(through.Endpoints, ","), "--cacert", through.CAFile, "--cert", through.CertFile, "--key", through.KeyFile, "member", "promote", id}
		if out, err := exec.CommandContext(ctx, programs(t).Path("etcdctl"), args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
	if err := <-back; err != nil {
		t.Fatal(err)
	}
}

// member is the id, in hex, and the peer URL of a member by name; one that has
// been added and not started has none.
func member(t *testing.T, c rig.EtcdClient, name string) (id, peer string) {
	t.Helper()
	var list struct {
		Members []struct {
			ID       uint64   `json:"ID"`
			Name     string   `json:"name"`
			PeerURLs []string `json:"peerURLs"`
		} `json:"members"`
	}
	out := etcdctl(t, c, "member", "list", "-w", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, m := range list.Members {
		if m.Name == name {
			return fmt.Sprintf("%x", m.ID), m.PeerURLs[0]
		}
	}
	t.Fatalf("no member %q in %s", name, out)
	return "", ""
}
