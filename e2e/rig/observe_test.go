//go:build rig

package rig_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/prove/rig"
)

// observer looks at a control plane all the time while something is broken in
// it: at the nodes, at core writes, at liveness probes, and at who leads.
type observer struct {
	*rig.Rig
	t     *testing.T
	api   kubernetes.Interface
	live  string
	http  map[string]*http.Client
	up    map[int]bool // apiservers that have been live, by process id
	began time.Time
	stop  context.CancelFunc
	wait  sync.WaitGroup

	mu sync.Mutex
	// unready is the most nodes that were not Ready together, and since and
	// until when any was, from the beginning.
	unready              int
	since, until         time.Duration
	nodes, unseen        int
	writes               []time.Duration
	failed               map[string]int
	probes, unlive       int
	why                  map[string]int // of the failed probes
	elections            map[string]*election
	restarts             map[string]int
	lastNodes, lastWrite time.Time
}

// election is what was seen of one component's.
type election struct {
	holder  string
	changes int
	// two is for how long two led at once, gap the longest time that nobody did.
	two, gap  time.Duration
	led, seen time.Time
}

// liveness is the path that the rendered probes of apiservers ask for.
func liveness(t *testing.T, files []file.File) string {
	t.Helper()
	for _, f := range files {
		if strings.Contains(f.Path, "/kube-apiserver") {
			if m := regexp.MustCompile(`path: (/livez\S*)`).FindSubmatch(f.Data); m != nil {
				return string(m[1])
			}
		}
	}
	t.Fatal("no liveness probe of an apiserver")
	return ""
}

// observe begins to look. Nodes and writes go through api.
func observe(t *testing.T, r *rig.Rig, api kubernetes.Interface, live string) *observer {
	t.Helper()
	o := &observer{Rig: r, t: t, api: api, live: live, http: map[string]*http.Client{}, up: map[int]bool{}, why: map[string]int{}, began: time.Now(),
		failed: map[string]int{}, elections: map[string]*election{}, restarts: map[string]int{}}
	for _, p := range r.Processes() {
		c, err := r.HTTPClient(p)
		if err != nil {
			t.Fatal(err)
		}
		c.Timeout = 15 * time.Second // the probes'
		o.http[p.Name], o.restarts[p.Name] = c, p.Restarts()
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.stop = cancel
	name := fmt.Sprintf("observed-%d", o.began.UnixNano())
	if _, err := api.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o.every(ctx, time.Second, o.lookNodes)
	o.every(ctx, 250*time.Millisecond, func(ctx context.Context) { o.writeCore(ctx, name) })
	o.every(ctx, time.Second, o.askLiveness)
	o.every(ctx, 500*time.Millisecond, o.lookLeaders)
	t.Cleanup(o.end)
	return o
}

func (o *observer) every(ctx context.Context, period time.Duration, look func(context.Context)) {
	o.wait.Go(func() {
		for tick := time.NewTicker(period); ; {
			look(ctx)
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	})
}

func (o *observer) end() {
	o.stop()
	o.wait.Wait()
}

func (o *observer) lookNodes(ctx context.Context) {
	call, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := o.api.CoreV1().Nodes().List(call, metav1.ListOptions{})
	if ctx.Err() != nil {
		return
	}
	at := time.Since(o.began)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.unseen++
		return
	}
	unready := 0
	for _, node := range list.Items {
		if !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			unready++
		}
	}
	o.nodes, o.lastNodes = len(list.Items), time.Now()
	if unready > 0 {
		if o.unready == 0 {
			o.since = at
		}
		o.until, o.unready = at, max(o.unready, unready)
	}
}

func (o *observer) writeCore(ctx context.Context, name string) {
	call, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	began := time.Now()
	_, err := o.api.CoreV1().ConfigMaps("default").Update(call, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"at": began.String()},
	}, metav1.UpdateOptions{})
	if ctx.Err() != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.failed[err.Error()]++
		return
	}
	o.writes, o.lastWrite = append(o.writes, time.Since(began)), time.Now()
}

// askLiveness asks every apiserver that runs what its probe asks, from its
// first success on: before, the startup probe is in charge.
func (o *observer) askLiveness(ctx context.Context) {
	for _, p := range o.Processes() {
		if p.Component != "kube-apiserver" || !p.Running() {
			continue
		}
		pid := p.PID()
		why := o.unwell(ctx, p)
		if ctx.Err() != nil {
			return
		}
		if why == "" {
			o.up[pid] = true
		}
		if !o.up[pid] || !p.Running() || p.PID() != pid {
			continue
		}
		o.mu.Lock()
		o.probes++
		if why != "" {
			o.unlive++
			o.why[why]++
		}
		o.mu.Unlock()
	}
}

// unwell is what an apiserver's liveness is not well of: the checks that fail, or
// that nothing answered within the probe's time. Empty when it is well.
func (o *observer) unwell(ctx context.Context, p *rig.Process) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(p.MetricsURL, "/metrics")+o.live, nil)
	if err != nil {
		return err.Error()
	}
	response, err := o.http[p.Name].Do(request)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		return ""
	}
	why := response.Status
	for s := bufio.NewScanner(response.Body); s.Scan(); {
		if strings.HasPrefix(s.Text(), "[-]") {
			why += " " + s.Text()
		}
	}
	return why
}

// get is the status of an answer, and the line of a metric in it, if asked for.
func (o *observer) get(ctx context.Context, p *rig.Process, url string) (int, string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, ""
	}
	response, err := o.http[p.Name].Do(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	line := ""
	for s := bufio.NewScanner(response.Body); s.Scan(); {
		if strings.HasPrefix(s.Text(), "leader_election_master_status{") {
			line = s.Text()
		}
	}
	return response.StatusCode, line
}

// leading are the processes of a component that say of themselves that they
// lead, by name and start.
func (o *observer) leading(ctx context.Context, component string) []string {
	var leaders []string
	for _, p := range o.Processes() {
		if p.Component != component || !p.Running() {
			continue
		}
		call, cancel := context.WithTimeout(ctx, 2*time.Second)
		pid := p.PID()
		if _, line := o.get(call, p, p.MetricsURL); strings.HasSuffix(line, " 1") {
			leaders = append(leaders, fmt.Sprintf("%s/%d", p.Name, pid))
		}
		cancel()
	}
	return leaders
}

func (o *observer) lookLeaders(ctx context.Context) {
	for _, component := range []string{"kube-controller-manager", "kube-scheduler"} {
		leaders := o.leading(ctx, component)
		if len(leaders) > 1 {
			// They were asked one after the other: only who still leads when asked
			// again led together with the rest.
			again := o.leading(ctx, component)
			leaders = slices.DeleteFunc(leaders, func(l string) bool { return !slices.Contains(again, l) })
		}
		if ctx.Err() != nil {
			return
		}
		o.mu.Lock()
		o.lead(component, leaders)
		o.mu.Unlock()
	}
}

// lead takes a look at an election into account; mu is held.
func (o *observer) lead(component string, leaders []string) {
	now := time.Now()
	e := o.elections[component]
	if e == nil {
		e = &election{led: now, seen: now}
		o.elections[component] = e
	}
	if len(leaders) > 0 {
		e.gap, e.led = max(e.gap, now.Sub(e.led)), now
		if !slices.Contains(leaders, e.holder) {
			if e.holder != "" {
				e.changes++
			}
			e.holder = leaders[0]
		}
	}
	if len(leaders) > 1 {
		e.two += now.Sub(e.seen)
	}
	e.seen = now
}

// led is the longest that a component has been without a leader, until now.
func (o *observer) led(component string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	e := o.elections[component]
	if e == nil || e.holder == "" || time.Since(e.led) > 3*time.Second {
		return fmt.Errorf("%s has no leader", component)
	}
	return nil
}

// await waits until both components are led, and says how long that took.
func (o *observer) await(limit time.Duration) time.Duration {
	o.t.Helper()
	began := time.Now()
	eventually(o.t, "leaders", limit, func() error {
		if err := o.led("kube-controller-manager"); err != nil {
			return err
		}
		return o.led("kube-scheduler")
	})
	return time.Since(began).Round(100 * time.Millisecond)
}

// restarted are the processes that supervision has restarted meanwhile.
func (o *observer) restarted(component string) int {
	n := 0
	for _, p := range o.Processes() {
		if p.Component == component {
			n += p.Restarts() - o.restarts[p.Name]
		}
	}
	return n
}

// tell ends the observation and logs what was seen.
func (o *observer) tell(what string) {
	o.t.Helper()
	o.end()
	slices.Sort(o.writes)
	at := func(q float64) time.Duration {
		if len(o.writes) == 0 {
			return -1
		}
		return o.writes[int(q*float64(len(o.writes)-1))].Round(time.Millisecond)
	}
	o.t.Logf("%s, observed for %s: of %d nodes at most %d not Ready (from %s to %s, unseen %d times); %d core writes, p50 %s, p99 %s, longest %s, failed %v; liveness %d of %d failed %v",
		what, time.Since(o.began).Round(time.Second), o.nodes, o.unready, o.since.Round(time.Second), o.until.Round(time.Second), o.unseen,
		len(o.writes), at(0.5), at(0.99), at(1), o.failed, o.unlive, o.probes, o.why)
	for _, name := range slices.Sorted(maps.Keys(o.elections)) {
		e := o.elections[name]
		o.t.Logf("%s: %d changes of leader, %d restarts, longest without a leader %s, two leaders for %s",
			name, e.changes, o.restarted(name), e.gap.Round(100*time.Millisecond), e.two.Round(100*time.Millisecond))
	}
}

// promises checks what holds of every fault: the main API serves, no apiserver
// fails its liveness or is restarted, no node is lost, no election has two leaders.
func (o *observer) promises() {
	o.t.Helper()
	if len(o.failed) > 0 {
		o.t.Errorf("core writes failed: %v", o.failed)
	}
	if n := len(o.writes); n == 0 || o.writes[int(0.99*float64(n-1))] > time.Second {
		o.t.Errorf("of %d core writes one in a hundred took over 1 s, the API's objective", n)
	}
	if o.unlive > 0 || o.probes == 0 {
		o.t.Errorf("liveness failed %d times of %d: %v", o.unlive, o.probes, o.why)
	}
	if n := o.restarted("kube-apiserver"); n > 0 {
		o.t.Errorf("apiservers were restarted %d times", n)
	}
	if o.unready > 0 {
		o.t.Errorf("%d nodes were not Ready, from %s to %s", o.unready, o.since, o.until)
	}
	o.oneLeader()
}

func (o *observer) oneLeader() {
	o.t.Helper()
	for name, e := range o.elections {
		if e.two > 0 {
			o.t.Errorf("%s had two leaders for %s", name, e.two)
		}
	}
}
