package tier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kubeseams/seams/internal/etcdclient"
)

// MoveOptions say what is moved, and by what means.
type MoveOptions struct {
	Cluster Cluster
	// Group goes to To.
	Group string
	To    Place
	// MainEtcd and TierEtcd are the etcds of custom resources of the two servers,
	// MainPrefix and TierPrefix their --etcd-prefix; empty means /registry.
	MainEtcd, TierEtcd     etcdclient.Access
	MainPrefix, TierPrefix string
	// MaxBump bounds how many writes raise a revision; 0 is 1,000,000.
	MaxBump int64
	// Settle is how long writes that were on their way when the group was frozen
	// have to end; 0 is 3 s.
	Settle time.Duration
	// LockDuration is how long another mover waits for a sign of this one; 0 is 30 s.
	LockDuration time.Duration
	// Holder is who this is, for the journal and the lock.
	Holder string
	// Now is the clock of the journal; nil is time.Now.
	Now func() time.Time
	// Log gets a line for each step before it is done; nil means nowhere.
	Log io.Writer
}

func (o MoveOptions) withDefaults() MoveOptions {
	if o.MainPrefix == "" {
		o.MainPrefix = "/registry"
	}
	if o.TierPrefix == "" {
		o.TierPrefix = "/registry"
	}
	if o.MaxBump == 0 {
		o.MaxBump = 1_000_000
	}
	if o.Settle == 0 {
		o.Settle = 3 * time.Second
	}
	if o.LockDuration == 0 {
		o.LockDuration = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	return o
}

// Mover moves one group.
type Mover struct {
	o          MoveOptions
	main, tier side
	j          *journal
	// canaries are watches of our own that show when those of others end.
	canaries []*canary
}

// NewMover makes a mover, and makes sure that the two etcds are two.
func NewMover(ctx context.Context, o MoveOptions) (*Mover, error) {
	m := &Mover{o: o.withDefaults()}
	if err := o.Cluster.validate(); err != nil {
		return nil, err
	}
	if o.To != Main && o.To != Tier {
		return nil, fmt.Errorf("%q: a group goes to %s or to %s", o.To, Tier, Main)
	}
	main, errMain := etcdclient.New("main", m.o.MainEtcd)
	tier, errTier := etcdclient.New("tier", m.o.TierEtcd)
	if err := errors.Join(errMain, errTier); err != nil {
		return nil, err
	}
	m.main = side{main, strings.TrimSuffix(m.o.MainPrefix, "/") + "/" + o.Group + "/"}
	m.tier = side{tier, strings.TrimSuffix(m.o.TierPrefix, "/") + "/" + o.Group + "/"}
	a, errMain := main.Head(ctx)
	b, errTier := tier.Head(ctx)
	if err := errors.Join(errMain, errTier); err != nil {
		return nil, err
	}
	if a.ClusterID == b.ClusterID {
		return nil, fmt.Errorf("the etcd of the main server and that of the tier are one and the same (cluster %x)", a.ClusterID)
	}
	return m, nil
}

func (m *Mover) side(p Place) side {
	if p == Main {
		return m.main
	}
	return m.tier
}

func (m *Mover) servers(p Place) []*Server {
	if p == Main {
		return m.o.Cluster.Main
	}
	return m.o.Cluster.Tier
}

func (m *Mover) log(format string, args ...any) { fmt.Fprintf(m.o.Log, format+"\n", args...) }

// Survey is what a move would do, of what.
type Survey struct {
	Group     string   `json:"group"`
	To        Place    `json:"to"`
	Resources []string `json:"resources"`
	Versions  []string `json:"versions"`
	Objects   int      `json:"objects"`
	Bytes     int64    `json:"bytes"`
	// RevisionGap is how many writes the target's etcd takes to be beyond the source's.
	RevisionGap int64    `json:"revisionGap"`
	Steps       []string `json:"steps"`
}

// Text is the survey as people read it.
func (s Survey) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d objects of %s, %d bytes, go to %s\n", s.Group, s.Objects, strings.Join(s.Resources, ", "), s.Bytes, s.To)
	for i, step := range s.Steps {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, step)
	}
	fmt.Fprintf(&b, "the target's etcd takes %d writes to be beyond the source's revision\n", s.RevisionGap)
	return b.String()
}

// Survey looks at everything a move needs, and changes nothing.
func (m *Mover) Survey(ctx context.Context) (*Survey, error) {
	have, err := readJournal(ctx, m.o.Cluster.Main[0], m.o.Group)
	if err != nil {
		return nil, err
	}
	var over *Journal
	if have != nil {
		over = &have.Journal
	}
	if err := admissible(start, m.o.Group, m.o.To, over); err != nil {
		return nil, err
	}
	return m.survey(ctx, over)
}

// survey finds what is in the way; over is the journal of a move that is over.
func (m *Mover) survey(ctx context.Context, over *Journal) (*Survey, error) {
	s := &Survey{Group: m.o.Group, To: m.o.To}
	from := m.o.To.Other()
	services, err := apiServices(ctx, m.o.Cluster.Main[0], m.o.Group)
	if err != nil {
		return nil, err
	}
	crds, err := crdsOf(ctx, m.servers(from)[0], []string{m.o.Group})
	if err != nil {
		return nil, err
	}
	if s.Versions, err = movableGroup(m.o.Cluster.Target, m.o.Group, from, services, crds); err != nil {
		return nil, err
	}
	for _, crd := range sortedCRDs(crds) {
		s.Resources = append(s.Resources, crd.Spec.Names.Plural)
	}
	if over == nil {
		n, err := m.side(m.o.To).Count(ctx, m.side(m.o.To).prefix)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			return nil, fmt.Errorf("%s's etcd has %d keys below %s, which no move of ours left there: look at them, and delete them if they are of no use", m.o.To, n, m.side(m.o.To).prefix)
		}
	}
	found, err := compare(ctx, m.side(from), m.side(m.o.To), false)
	if err != nil {
		return nil, err
	}
	s.Objects, s.Bytes = found.Objects, found.Bytes
	for resource := range found.uids {
		if !slices.Contains(s.Resources, resource) {
			return nil, fmt.Errorf("%s's etcd has keys below %s%s/, of which there is no definition: delete them, or define it again", from, m.side(from).prefix, resource)
		}
	}
	if s.RevisionGap, err = m.gap(ctx, from); err != nil {
		return nil, err
	}
	if s.RevisionGap > m.o.MaxBump {
		_, err := fence(ctx, m.side(m.o.To).Client, s.RevisionGap+1, 0)
		return nil, err
	}
	for _, step := range steps()[:len(steps())-1] {
		s.Steps = append(s.Steps, string(step)+": "+explain(step, m.o.To))
	}
	return s, nil
}

// movableGroup is an error unless a place serves a group, all of it, by definitions.
func movableGroup(t Target, group string, from Place, services map[string]apiService, crds map[string]*CRD) ([]string, error) {
	if len(crds) == 0 {
		return nil, fmt.Errorf("%s has no CustomResourceDefinition of %s", from, group)
	}
	var versions []string
	for _, v := range allServed(crds) {
		a, ok := services[v.version]
		switch {
		case !ok:
			return nil, fmt.Errorf("nothing leads to %s/%s, which %s serves", group, v.version, from)
		case from == Tier && !a.of(t), from == Main && !a.local():
			return nil, fmt.Errorf("APIService %s does not lead to %s", a.Name, from)
		case a.builtIn():
			return nil, fmt.Errorf("%s is a group of kube-apiserver itself", group)
		}
		versions = append(versions, v.version)
	}
	for version, a := range services {
		if !slices.Contains(versions, version) && !a.local() {
			return nil, fmt.Errorf("APIService %s leads to a version that %s has no definition of", a.Name, from)
		}
	}
	return versions, nil
}

func sortedCRDs(crds map[string]*CRD) []*CRD {
	var all []*CRD
	for _, crd := range crds {
		all = append(all, crd)
	}
	slices.SortFunc(all, func(a, b *CRD) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// margin is how far beyond the source's revision the target's is raised at
// least: the source is written to by others while the group moves.
const margin = 1000

// gap is how many writes the target needs.
func (m *Mover) gap(ctx context.Context, from Place) (int64, error) {
	a, err := m.side(from).Head(ctx)
	if err != nil {
		return 0, err
	}
	if err := sleep(ctx, time.Second); err != nil {
		return 0, err
	}
	b, err := m.side(from).Head(ctx)
	if err != nil {
		return 0, err
	}
	c, err := m.side(from.Other()).Head(ctx)
	if err != nil {
		return 0, err
	}
	const seconds = 60
	return max(0, b.Revision+max(margin, (b.Revision-a.Revision)*seconds)-c.Revision), nil
}

// raise has a place's etcd beyond the other's, with a margin.
func (m *Mover) raise(ctx context.Context, p Place) error {
	gap, err := m.gap(ctx, p.Other())
	if err != nil {
		return err
	}
	head, err := m.side(p).Head(ctx)
	if err != nil {
		return err
	}
	revision, err := fence(ctx, m.side(p).Client, head.Revision+gap, m.o.MaxBump)
	if err == nil {
		m.log("        %s's etcd is at revision %d", p, revision)
	}
	return err
}

// level makes sure that the target is still beyond the source: clients may hold
// resourceVersions of the source up to when its watches ended.
func (m *Mover) level(ctx context.Context, p Place) error {
	a, err := m.side(p.Other()).Head(ctx)
	if err != nil {
		return err
	}
	b, err := m.side(p).Head(ctx)
	if err != nil || b.Revision > a.Revision {
		return err
	}
	return m.raise(ctx, p)
}
