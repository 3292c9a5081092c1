package measure

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/quantity"
)

const rbacGroup = "rbac.authorization.k8s.io"

func (m *maker) state() {
	s := m.root.object("state")
	list := s.list("resources", "every kind that has objects; those of RBAC and definitions have fields of their own")
	rbac := 0
	for _, gr := range m.o.sorted() {
		k := m.o.Kinds[gr]
		n := whole(k.Objects, mostObjects)
		switch {
		case gr.Group == rbacGroup:
			rbac += n
			continue
		case n == 0 || counted(gr) || !m.served(gr) || gr.Group == "apiextensions.k8s.io":
			continue
		}
		r := list.item()
		m.name(r, gr)
		r.set("count", n)
		m.bytes(r, "bytes", gr, k)
		// Informers list what they watch, once, and watch all of it.
		r.set("listers", whole(k.Watchers["cluster"], mostWatchers), "watches of all of it")
		shape(r, k)
	}
	s.set("crds", min(m.count("apiextensions.k8s.io", "customresourcedefinitions"), 100_000))
	if rbac > 0 {
		s.set("rbacObjects", min(rbac, 10_000_000))
	} else {
		s.remark(m.missed("state.rbacObjects", "no objects of RBAC were told", "count roles, cluster roles and their bindings"))
	}
}

func (m *maker) controlPlane() {
	c := m.root.object("controlPlane")
	m.hosts(c)
	servers := max(m.o.Alive, len(m.o.Servers))
	c.set("apiservers", min(max(servers, 1), 1000), m.serversFrom())
	for _, s := range m.o.Servers {
		text := s.Name
		if s.ResidentBytes > 0 {
			text += " takes " + quantity.Bytes(s.ResidentBytes)
		}
		for _, id := range slices.Sorted(maps.Keys(s.StorageBytes)) {
			if s.StorageBytes[id] > 0 {
				text += ", sees etcd " + id + " of " + quantity.Bytes(s.StorageBytes[id])
			}
		}
		if text != s.Name {
			c.remark(text + ".")
		}
	}
	e := m.o.Etcd
	if e.FsyncP99Seconds > 0 {
		c.set("fsyncP99Ms", min(max(digits(e.FsyncP99Seconds*1000, 2), 0.01), 60_000), "etcd_disk_wal_fsync_duration_seconds of the slowest member")
	} else {
		c.remark(m.missed("controlPlane.fsyncP99Ms", "no etcd was looked at", "give etcd's metrics too, or write the class of the disk"))
	}
	if e.QuotaBytes > 0 {
		c.set("etcdQuotaGiB", min(max(digits(e.QuotaBytes/(1<<30), 3), 0.001), 100))
	} else {
		c.remark(m.missed("controlPlane.etcdQuotaGiB", "no etcd was looked at", "write --quota-backend-bytes where it is set"))
	}
	if e.DatabaseBytes > 0 {
		c.remark("The database of the main etcd is " + quantity.Bytes(e.DatabaseBytes) + ".")
	}
	c.remark(m.missed("controlPlane.disk", "no metric tells the class of a disk", "write nvme, ssd, network or hdd"),
		m.missed("controlPlane.etcdDisks", "no metric tells how many disks there are", "write how many separate disks of a host etcd may use"))
}

func (m *maker) hosts(c *node) {
	if len(m.o.Hosts) == 0 {
		c.remark(m.missed("controlPlane.hosts", "no node has the label node-role.kubernetes.io/control-plane, or only metrics were given", "list the hosts with their addresses, and their cpu and memoryGiB"))
		return
	}
	if len(m.o.Hosts) > 1 && m.o.Endpoint != "" {
		c.set("endpoint", m.o.Endpoint, "the server of the kubeconfig")
	}
	list := c.list("hosts")
	cpu, memory := math.MaxInt, math.Inf(1)
	for _, h := range m.o.Hosts {
		if h.Address != "" {
			r := list.item()
			r.set("name", h.Name)
			r.set("address", h.Address)
		}
		if h.CPU > 0 {
			cpu = min(cpu, h.CPU, 4096)
		}
		if h.MemoryGiB > 0 {
			memory = min(memory, h.MemoryGiB)
		}
	}
	if cpu < math.MaxInt {
		c.set("cpu", cpu, "of the smallest host")
	}
	if !math.IsInf(memory, 1) {
		c.set("memoryGiB", min(max(digits(memory, 3), 0.01), 65_536), "of the smallest host")
	}
}

func (m *maker) serversFrom() string {
	if m.o.Alive > 0 {
		return "leases of apiservers that were renewed within a minute"
	}
	return "as many as were looked at"
}

// doubts are what all figures should be read with.
func (m *maker) doubts() {
	if m.o.Seconds <= 0 {
		m.say("measure-no-window", finding.Warning, "churn", "there was one look, which tells what is there and not how often it changes: no rates are in the profile",
			"give two looks at each process, or a kubeconfig and a --window")
	} else if m.o.Seconds < shortWindow {
		m.say("measure-short-window", finding.Warning, "churn", fmt.Sprintf("a window of %s s is short: rates of what happens now and then are chance", quantity.Count(m.o.Seconds)),
			"look for some minutes, at the time of day that counts")
	}
	if n := len(m.o.Servers); m.o.Alive > n {
		m.say("measure-apiserver-unreached", finding.Warning, "churn",
			fmt.Sprintf("%s of %s apiservers were looked at, and each counts only its own clients: rates and watchers are too low", quantity.Count(float64(n)), quantity.Count(float64(m.o.Alive))),
			"give the others' addresses with --server, or their saved metrics")
	}
	m.windows()
	if n := m.o.DeletedCollections; n > 0 && m.o.WritesFrom == apiRequests {
		m.say("measure-collections", finding.Warning, "churn",
			quantity.With(n, "calls")+" deleted collections in the window, and the metrics do not tell of how many objects", "add their deletes by hand")
	}
	if m.o.WritesFrom == apiRequests {
		m.say("measure-requests", finding.Info, "churn",
			"writes are requests of clients, some of which changed nothing: this apiserver does not count what reaches etcd by resource", "read rates as the most that they can be")
	}
	if len(m.unseen) > 0 {
		m.say("measure-size-assumed", finding.Warning, "state.resources", fmt.Sprintf("no size was told or read of %s: %d bytes are assumed", strings.Join(m.unseen, ", "), assumedBytes),
			"write the sizes, or measure with a kubeconfig that may list them")
	}
	for _, r := range m.o.Refused {
		m.say("measure-refused", finding.Warning, "", r.What+" could not be had: "+r.Why, "measure with the rights of docs/measure.md")
	}
}

// windows are the processes whose two looks are not quite a window of one process.
func (m *maker) windows() {
	for _, r := range m.o.Restarted {
		message, fix := r.Name+" began anew within the window: its counts are since then, and rates too low", "measure again"
		if !r.Told {
			message = r.Name + " began anew within the window, or its looks are swapped: counters went back, and process_start_time_seconds is not there to tell which"
			fix = "give the earlier look first, of whole pages"
		}
		m.say("measure-restarted", finding.Warning, "churn", message, fix)
	}
	for _, r := range m.o.Apart {
		m.say("measure-looks-apart", finding.Warning, "churn", "the two looks at "+r.What+" are no window, and no rates are taken from it: "+r.Why,
			"name each process by its own address, with --server or --etcd-url")
	}
	for _, u := range m.o.Uncounted {
		m.say("measure-uncounted", finding.Warning, "", fmt.Sprintf("%s says what nothing can count, which is taken as not seen: %s", u.Name, some(u.Series, 3)),
			"save the page anew, of the process itself")
	}
}

func some(all []string, n int) string {
	if len(all) <= n {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:n], ", "), len(all)-n)
}

// shortWindow is below what a rate is worth reading from.
const shortWindow = 20
