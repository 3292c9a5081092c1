package estimate

import "strconv"

// constant is one number that is not of the profile. The band is what the
// sources span; "measured" in a source means somebody ran it and recorded the
// figure, "reported" that a user's report has it, "derived" that it follows from
// such figures, "planning" that it is our reading of them, and "unsourced" that
// no trustworthy figure was found.
type constant struct {
	name             string
	value, low, high float64
	unit, source     string
}

// known makes a constant, whose source then ends with its band.
func known(name string, value, low, high float64, unit, source string) constant {
	if low != value || high != value {
		source += "; " + strconv.FormatFloat(low, 'g', 4, 64) + " to " + strconv.FormatFloat(high, 'g', 4, 64)
	}
	return constant{name, value, low, high, unit, source}
}

// term makes the constant an input of a formula.
func (c constant) term() term {
	return term{value: c.value, low: c.low, high: c.high, text: c.name,
		inputs: []Input{{Name: c.name, Value: c.value, Unit: c.unit, Source: c.source}}}
}

// Sizes in bytes; etcd's quota and memory are counted in binary units.
const (
	mib = 1 << 20
	gib = 1 << 30
)

// Write rates.
var (
	// The kubelet renews at a quarter of its lease duration, with up to 4 % jitter on top.
	renewFraction = known("renewFraction", 0.25, 0.25, 0.26, "",
		"kubelet nodeLeaseRenewIntervalFraction 0.25; jitter 4 %, component-helpers apimachinery/lease")
	// A status is also sent when conditions or images change.
	statusChanges = known("statusChanges", 1, 0.9, 1.5, "",
		"kubelet reports the status when it changes, too (KEP-589); the share of changes is unsourced")
	electionWrites = known("electionWrites", 0.5, 0.4, 0.5, "writes/s",
		"component-base leader election: retry period 2 s")
	// Each kube-apiserver keeps an identity lease and a masterlease alive.
	identityWrites = known("identityWrites", 0.1, 0.05, 0.1, "writes/s",
		"apiserver identity lease, renewed every 10 s (recalled, not measured)")
	masterLeaseWrites = known("masterLeaseWrites", 0.1, 0.05, 0.1, "writes/s",
		"endpoint lease reconciler, 15 s TTL refreshed every 10 s (recalled, not measured)")
	podWrites = known("podWrites", 8, 6, 10, "writes",
		"create, bind, 2-5 status, 1-2 delete (k8s #4432), with batched owner and EndpointSlice updates")
	podEvents = known("podEvents", 2.9, 2.5, 4, "events",
		"measured: 145,259 events for about 50,000 pods created and deleted (k8s #141022)")
)

// Stored sizes.
var (
	leaseBytes = known("leaseBytes", 505, 480, 750, "bytes",
		"measured: a node lease is 505 B stored; 625 B a put with its row (k8s-1m), 867 B (NVSentinel #1789)")
	rbacBytes = known("rbacBytes", 485, 212, 700, "bytes",
		"measured: RoleBinding 485 B with managedFields, 212 B without")
	keyBytes = known("keyBytes", 250, 60, 350, "bytes",
		"measured: etcd 3.7.3 uses 240 to 330 B for an object besides its value: key, page and index (recipes/evidence/state-cold-uncached.json); 60 by the key alone (derived)")
	rowBytes = known("rowBytes", 120, 100, 150, "bytes",
		"etcd row of one revision besides its value; 625 B a 505 B lease put (derived from k8s-1m)")
	// etcd keeps revisions until the compaction after next.
	compactions = known("compactions", 1.5, 1, 2, "",
		"kube-apiserver compacts to the revision of one interval ago: 1 to 2 intervals are kept (apiserver storage/etcd3/compact.go)")
)

// Live heap of a kube-apiserver.
var (
	baseHeap = known("baseHeap", 110*mib, 80*mib, 216*mib, "bytes",
		"measured: 84-90 MiB in an idle kube-apiserver 1.37.2 (recipes/evidence), 216 MiB heap in a fresh apiserver with the Cluster API CRDs (kcp-cluster-api), 0.38 GiB resident (ASO #2920)")
	aggregatedBaseHeap = known("aggregatedBaseHeap", 40*mib, 7*mib, 100*mib, "bytes",
		"measured: 7 MiB heap and 84 MiB resident in an empty apiextensions-apiserver v0.37.2, without its authorization informers; set so that resident memory fits")
	crdHeap = known("crdHeap", 2.4*mib, 0.4*mib, 8*mib, "bytes",
		"measured, apiextensions-apiserver v0.37.2: 0.4 MiB stored, 1.3-2.4 served with a schema of 14-19 kB, 8 with one of 185 kB; 13 MiB resident each at 1.26 (ASO #2920)")
	objectOverhead = known("objectOverhead", 600, 300, 1000, "bytes",
		"cache element, key, B-tree slot, label and field sets of one object (derived)")
	authorizerBytes = known("authorizerBytes", 1300, 620, 2000, "bytes",
		"measured: 1.7-1.9 kB a Role of 600 B with its cache off (recipes/evidence/state-cold-uncached.json), 0.62-1.34 kB a RoleBinding; published: about 0.9 kB stay in the authorizer's informers whatever is off the cache")
	historyWindow = known("historyWindow", 75, 75, 112.5, "s",
		"apiserver storage/cacher DefaultEventFreshDuration; the ring doubles until it holds that, and so holds 1 to 2 times as much, 1.5 over all rates (watch_cache_history.go)")
	historyRing = known("historyRing", 102400, 102400, 102400, "events",
		"apiserver storage/cacher: largest event window of one resource")
	watchHeap = known("watchHeap", 60e3, 40e3, 100e3, "bytes",
		"measured, apiextensions-apiserver v0.37.2: 18-22 kB heap and 38-40 kB stacks a watch, 100 kB resident (3,600 and 7,200 idle single-object watches, 18 a connection, no authentication); at most 0.25 MB by subtraction at 100,000 kubelets (k8s-1m)")
	// Adding a process moves no connection, so the share does not depend on how many there are.
	busiestShare = known("busiestShare", 0.5, 1.0/6, 1, "",
		"watches do not move when an apiserver is added (goaway-chance is 0): one of three restarting leaves half each, a virtual IP sends all to one (planning)")
	tierShare = known("tierShare", 1, 1, 2, "",
		"unevenness over the processes of a tier that was sized for its clients (planning)")
	consumerShare = known("consumerShare", 1, 0.5, 2, "",
		"unevenness of what each consumer's tier has to cache (planning)")
	rssFactor = known("rssFactor", 2.2, 1.7, 2.9, "",
		"measured: resident 2.4 times the live heap (kcp-cluster-api); Go's GOGC=100 gives 2 and fragmentation (2.0-2.5, ÷ and × 1.3)")
	listGarbage = known("listGarbage", 1, 0, 2.5, "",
		"measured: 1,138 MiB resident beside 156 MiB of live heap where 5,000 objects are off the cache, which take 450 MiB decoded (recipes/evidence/state-cold-uncached.json); 0 when nobody lists them whole")
	listFactor = known("listFactor", 2.5, 0.05, 5, "",
		"reported: 2.3 a listed byte (cert-manager #3748), 3.1 (KEP-3157), up to 5 without WatchList; next to nothing for clients that stream")
)

// Heap factors: live heap a stored byte, measured on decoded objects of
// k8s.io/api v0.36.3 unless the source says otherwise.
var (
	structuredFactor = known("structuredFactor", 6, 5, 7, "",
		"measured: custom resources of small maps 6.6-7.0; 5.2 on SbomReports (k8s #142062)")
	opaqueFactor = known("opaqueFactor", 1.25, 1.1, 1.4, "",
		"measured: 1.4 with one opaque 10 kB string, 1.1 for a Secret")
	builtInFactor = known("builtInFactor", 3, 1.1, 5, "",
		"typed structs 3-5, typed strings 1.1 (measured on other kinds)")
	podFactor = known("podFactor", 3.2, 2.5, 5, "",
		"measured: 2.6 at 10 kB, 4.9 at 0.6 kB")
	leaseFactor = known("leaseFactor", 2.8, 2.5, 3.1, "",
		"measured: Lease 2.8")
	rbacFactor = known("rbacFactor", 4, 2.6, 6.5, "",
		"measured: RoleBinding 2.8, a Role of 600 B 6.2 (recipes/evidence/state-cold-uncached.json)")
	configMapFactor = known("configMapFactor", 1.8, 1.1, 2.2, "",
		"measured: ConfigMap of 1 kB 1.8; 1.1 when it is one large string")
	secretFactor = known("secretFactor", 1.1, 1.05, 1.5, "",
		"measured: Secret of 10 kB 1.1")
	replicaSetFactor = known("replicaSetFactor", 4.3, 2.6, 5, "",
		"measured: ReplicaSet with a realistic template 4.3")
)

// Requests and watches.
var (
	writeSeconds = known("writeSeconds", 0.04, 0.01, 0.13, "s",
		"measured: 116 seats at 2,965 PUT/s = 0.04 (NVSentinel #1705); 138 seats at 45 claims of 24 writes = 0.13 (agent-sandbox)")
	watcherSeatSeconds = known("watcherSeatSeconds", 0.005, 0.005, 0.005, "s",
		"apiserver util/flowcontrol/request: 5 ms a seat, one seat for 10 watchers")
	controlLoops = known("controlLoops", 4, 2, 8, "watchers",
		"controller manager, scheduler, node agents' operators on each busy built-in (planning)")
	namespaceShare = known("namespaceShare", 0.1, 0.01, 1, "",
		"share of a resource's changes that one namespace's watcher sees (unsourced)")
)

// Ceilings. They have no band: a ceiling is a decision, and the demand's band
// says how sure it is that the decision holds.
var (
	// 10,000 is the plan and not 5,000: pressure 1 is meant to be the wall,
	// and this is what the weakest published three-member box did. The
	// cautious 5,000 is then pressure 0.5.
	etcdCeiling = known("etcdCeiling", 10000, 10000, 10000, "commits/s",
		"measured: 10.2-10.8k writes/s, etcd 3.4 on three machines (KubeBrain benchmark_insert.csv); planning figure, warn at half")
	networkDiskCeiling = known("networkDiskCeiling", 5000, 5000, 5000, "commits/s",
		"half of the plan on a network disk (planning)")
	hddCeiling = known("hddCeiling", 1000, 1000, 1000, "commits/s",
		"a tenth of the plan on spinning disks, whose fsync takes ten times longer (planning)")
	// 90k with 64 writers and 15k with 16,000 clients were read on tmpfs.
	memoryCeiling = known("memoryCeiling", 40000, 40000, 40000, "writes/s",
		"measured: 90k lease writes/s on tmpfs with 64 writers on 192 CPUs (k8s-1m); planning figure, less than half")
	goodFsyncMs = known("goodFsyncMs", 10, 10, 10, "ms",
		"etcd: 99 % of WAL fsyncs should take less than 10 ms")
	historyShare = known("historyShare", 0.4, 0.4, 0.4, "",
		"part of the quota for revisions and events; state has the other 0.6 (planning)")
	liveShare = known("liveShare", 0.6, 0.6, 0.6, "",
		"part of the quota for live objects; revisions and events have the rest (planning)")
	headroomShare = known("headroomShare", 0.5, 0.5, 0.5, "",
		"a restarting apiserver needs twice its steady memory (k8s #65954, hypershift #306; our factor)")
	windowCeiling = known("windowCeiling", 1365, 1365, 1365, "writes/s",
		"102,400 events over 75 s: past it the watch window of one resource shrinks (apiserver storage/cacher)")
	typeBytesCeiling = known("typeBytesCeiling", 1.5e9, 1.5e9, 1.5e9, "bytes",
		"SIG Scalability thresholds: 1.5 GB a resource type")
	typeObjectsCeiling = known("typeObjectsCeiling", 150000, 150000, 150000, "objects",
		"SIG Scalability thresholds: 150,000 objects of a built-in type other than Event")
	fanoutCeiling = known("fanoutCeiling", 5000, 5000, 5000, "events/s",
		"watch events one CPU sends (unsourced; calibrate)")
)

// Rules of classification that are not ceilings.
const (
	// kubeletPodsPerSecond is what one kubelet and its runtime start and stop:
	// 20 nodes met their wall at 90 pods/s, 4.5 each (agent-sandbox #1276).
	kubeletPodsPerSecond = 4.0
	// Comfortable is the high end of the pressures below which there is no trouble to name.
	Comfortable = 0.6
	// requestsPerParent is how many request objects a controller may have for
	// each object it works for before it must be looping: renewals keep a
	// handful (cert-manager #4846: 25,000 for 2).
	requestsPerParent = 100.0
	// runawayObjects is the least number of requests that is called a runaway.
	runawayObjects = 1000
	// hotLoopPerObject is how often a second an object may be rewritten by
	// something that neither creates nor deletes; leader election does it 0.5 times.
	hotLoopPerObject = 1.0
	// hotLoopWrites is the least write rate that is called a hot loop.
	hotLoopWrites = 20.0
	// fatEventBytes is ten times the usual 0.9 kB of an event (karpenter #2071 had 76 kB).
	fatEventBytes = 9000
	// largeObjectBytes is a size at which lists, not counts, hurt (k8s #129076: 400 kB).
	largeObjectBytes = 100e3
	// listLimitBytes is what the etcd client takes in one answer (2 GiB, k8s #82633).
	listLimitBytes = 2 * gib
	// suggestedQuotaGiB is etcd's suggested maximum, above which it warns.
	suggestedQuotaGiB = 8
	// manyCRDs is where crossplane and upjet users began to hurt (#2649, #151: 300 to 2,000).
	manyCRDs = 500
	// noEventTTLSeconds stands for events that never expire.
	noEventTTLSeconds = 30 * 24 * 3600
)
