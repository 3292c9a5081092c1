package controlplane

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeseams/seams/generators"
	"github.com/kubeseams/seams/internal/plan"
)

// Stage is the point in an etcd cluster's life that a member's manifest is for.
// etcd reads these flags only while its data directory is empty.
type Stage int

// The stages.
const (
	// Join grows a cluster host by host: the first member begins alone, each
	// further one joins those before it. A cluster that waited for all of its
	// members could not serve while kubeadm brings the first host up.
	Join Stage = iota
	// Together begins with all members at once, for who starts all hosts together.
	Together
	// Steady is for a member that has lost its data and joins all the others;
	// unlike Join it never begins a second cluster beside the first.
	Steady
)

// Etcd is the static pod of one member of a store.
func Etcd(p *plan.Plan, s plan.Store, host string, stage Stage) (*corev1.Pod, error) {
	flags, err := etcdFlags(p, s, host, stage)
	if err != nil {
		return nil, err
	}
	h, _ := p.Host(host)
	mounts := []mount{
		{name: "etcd-certs", path: PKIDir + "/etcd", kind: corev1.HostPathDirectoryOrCreate, readOnly: true},
		{name: "etcd-data", path: DataDir(s), kind: corev1.HostPathDirectoryOrCreate},
	}
	if isAggregated(p, s) {
		// Clients of tiers have an authority that main's etcds do not trust.
		flags["trusted-ca-file"] = AggregatedEtcdClients
		mounts = append(mounts, mount{name: "etcd-clients", path: AggregatedEtcdClients, kind: corev1.HostPathFile, readOnly: true})
	}
	return component{
		name:      EtcdName(s),
		container: "etcd",
		image:     EtcdImage(p),
		command:   flags.Command("etcd"),
		port:      s.MetricsPort,
		host:      loopback(h.Address),
		scheme:    corev1.URISchemeHTTP,
		probes:    ProbePaths{Live: "/livez", Ready: "/readyz", Start: "/readyz"},
		cpu:       "100m",
		memory:    "100Mi",
		mounts:    mounts,
	}.pod(), nil
}

// EtcdName is the pod of a store: etcd for main, etcd-NAME for the others.
func EtcdName(s plan.Store) string {
	if s.Name == "main" {
		return "etcd"
	}
	return "etcd-" + s.Name
}

// Ephemeral reports whether a store's data is in memory: on a tmpfs of the
// host, mounted at its data directory. An emptyDir in memory would be lost with
// the pod, which the kubelet makes anew for every change of a static pod, so
// that an upgrade of etcd would cost each member its data.
func Ephemeral(s plan.Store) bool { return s.Durability == "ephemeral" }

// MemoryLimit is the size of an ephemeral store's tmpfs in bytes: the database
// at its quota twice, as it is during a defragmentation or a snapshot sent to
// a joining member, and 1 GiB for the log.
func MemoryLimit(s plan.Store) int64 { return 2*s.QuotaBytes + 1<<30 }

// DataDir is where a store's members keep their data.
func DataDir(s plan.Store) string {
	switch {
	case s.DataDir != "":
		return s.DataDir
	case Ephemeral(s):
		return "/run/seams/" + EtcdName(s)
	}
	return "/var/lib/" + EtcdName(s)
}

func etcdFlags(p *plan.Plan, s plan.Store, host string, stage Stage) (Flags, error) {
	h, ok := p.Host(host)
	if !ok {
		return nil, fmt.Errorf("store %s: host %s is not in the plan", s.Name, host)
	}
	cluster, state, err := initialCluster(p, s, host, stage)
	if err != nil {
		return nil, err
	}
	local := loopback(h.Address)
	clients := https(local, s.ClientPort)
	if bind := listen(h.Address); isIP(h.Address) {
		clients += "," + https(bind, s.ClientPort)
	} else {
		clients = https(bind, s.ClientPort)
	}
	flags := Flags{
		"name":                           host,
		"data-dir":                       DataDir(s),
		"listen-client-urls":             clients,
		"advertise-client-urls":          https(h.Address, s.ClientPort),
		"listen-peer-urls":               https(listen(h.Address), s.PeerPort),
		"initial-advertise-peer-urls":    PeerURL(p, s, host),
		"initial-cluster":                cluster,
		"initial-cluster-state":          state,
		"cert-file":                      PKIDir + "/etcd/server.crt",
		"key-file":                       PKIDir + "/etcd/server.key",
		"trusted-ca-file":                PKIDir + "/etcd/ca.crt",
		"client-cert-auth":               "true",
		"peer-cert-file":                 PKIDir + "/etcd/peer.crt",
		"peer-key-file":                  PKIDir + "/etcd/peer.key",
		"peer-trusted-ca-file":           PKIDir + "/etcd/ca.crt",
		"peer-client-cert-auth":          "true",
		"listen-metrics-urls":            "http://" + hostPort(local, s.MetricsPort),
		"feature-gates":                  "InitialCorruptCheck=true",
		"watch-progress-notify-interval": "5s",
	}
	if s.Token != "" {
		flags["initial-cluster-token"] = s.Token
	}
	if s.QuotaBytes > 0 {
		flags["quota-backend-bytes"] = strconv.FormatInt(s.QuotaBytes, 10)
	}
	if Ephemeral(s) {
		flags["unsafe-no-fsync"] = "true"
	}
	return flags, nil
}

// PeerURL is where the other members of a store reach a host's member.
func PeerURL(p *plan.Plan, s plan.Store, host string) string {
	h, _ := p.Host(host)
	return https(h.Address, s.PeerPort)
}

// initialCluster gives --initial-cluster and --initial-cluster-state for a
// member at a stage.
func initialCluster(p *plan.Plan, s plan.Store, host string, stage Stage) (cluster, state string, err error) {
	var members []string
	found := false
	for _, m := range s.Members {
		members = append(members, m+"="+PeerURL(p, s, m))
		if m != host {
			continue
		}
		found = true
		if stage == Join {
			break
		}
	}
	if !found {
		return "", "", fmt.Errorf("store %s: host %s is not one of its members", s.Name, host)
	}
	state = "new"
	if stage == Steady || stage == Join && len(members) > 1 {
		state = "existing"
	}
	return strings.Join(members, ","), state, nil
}

// ExtraStores are the stores that apiservers of the plan use besides main.
// The stores of aggregated tiers belong to those tiers' own files.
func ExtraStores(p *plan.Plan) []plan.Store {
	elsewhere := map[string]bool{"main": true}
	for _, a := range p.Aggregated {
		elsewhere[a.Store] = true
	}
	for _, s := range RoutedStores(p) {
		delete(elsewhere, s.Name)
	}
	var stores []plan.Store
	for _, s := range p.Stores {
		if !elsewhere[s.Name] {
			stores = append(stores, s)
		}
	}
	return stores
}

// NeedsSteady reports whether a store's members need a second manifest, put in
// place once all of them are there: after a reboot a member whose data was in
// memory comes back empty, and its first manifest would have it begin a second
// cluster or look for the members as they were then.
func NeedsSteady(s plan.Store) bool { return Ephemeral(s) && len(s.Members) > 1 }

// AddEtcd adds the manifest of one member to the files, as DIR/HOST/NAME.yaml.
func AddEtcd(w *generators.Writer, p *plan.Plan, s plan.Store, host, dir string, stage Stage) {
	name := path.Join(dir, host, EtcdName(s)+".yaml")
	pod, err := Etcd(p, s, host, stage)
	if err != nil {
		w.Fail(name, err)
		return
	}
	w.Objects(name, pod)
}
