package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/prove/load"
	"github.com/kubeseams/seams/internal/recipe"
	"github.com/kubeseams/seams/internal/target"
)

// Options are what a cluster is put to the proof with.
type Options struct {
	// Config reaches the cluster, as somebody who may make namespaces, custom
	// resources, nodes and roles.
	Config *rest.Config
	Ladder *recipe.Ladder
	Rung   recipe.Rung
	// Scale multiplies the load; 0 is 1. Seconds replaces the proof's duration.
	Scale   float64
	Seconds int
	// Jobs is how many Pods drive parts of the load; 0 is 1.
	Jobs int
	// Image has /seams, and /kwok unless KwokImage begins with kwok.
	Image, KwokImage string
	// NodesBy is who renews the Leases of hollow nodes; empty is load.Kwok.
	NodesBy load.Renewer
	// Metrics are the addresses of metrics that the kubeconfig does not reach,
	// by the prefix of their figures: "store.main".
	Metrics map[string]string
	// Version is that of this program, Today the day of the record.
	Version string
	Today   time.Time
	// Log gets a line for every step; nil means nowhere.
	Log io.Writer
}

// Plan is a run that nothing was done for yet.
type Plan struct {
	options Options
	spec    Spec
	api     *api
	survey  *survey
	view    *view
	objects []object
}

// Make looks at a cluster and plans a run. Nothing is changed. Errors: the rung
// has no proof, the cluster does not answer or is of a version that the ladder
// does not know, names that the run needs are taken, all of them told, or
// metrics that were named do not answer.
func Make(ctx context.Context, o Options) (*Plan, error) {
	demand, err := prove.Asked(o.Rung, o.Scale, o.Seconds)
	if err != nil {
		return nil, err
	}
	if demand.Kind == prove.KindNodes {
		demand.NodesBy = load.Kwok
		if o.NodesBy != "" {
			demand.NodesBy = o.NodesBy
		}
	}
	p := &Plan{options: o}
	if p.api, err = newAPI(o.Config); err != nil {
		return nil, err
	}
	if p.survey, err = look(ctx, p.api); err != nil {
		return nil, err
	}
	v, err := target.ParseVersion(p.survey.kubernetes())
	if err == nil {
		_, err = target.Resolve(v)
	}
	if err != nil {
		return nil, fmt.Errorf("the cluster is of %s: %w", p.survey.version, err)
	}
	p.spec = Spec{Run: newRun(), Load: demand, Parts: demand.Parts(max(o.Jobs, 1)), Probe: prove.Probed(o.Rung)}
	if p.objects, err = objects(p.spec, o); err != nil {
		return nil, err
	}
	if err := p.free(ctx); err != nil {
		return nil, err
	}
	p.view, err = lookAround(ctx, o.Config, p.survey, o.Metrics)
	return p, err
}

// free is an error that names everything that is there already under a name
// that the run needs.
func (p *Plan) free(ctx context.Context) error {
	var taken []string
	for _, o := range p.objects {
		if o.namespace != "" && o.namespace != leaseNamespace {
			continue // its namespace is looked at
		}
		var found meta
		err := p.api.get(ctx, o.at(), &found)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("look for %s: %w", o, err)
		default:
			text := o.String()
			if run := found.Metadata.Labels[RunLabel]; run != "" {
				text += " (of run " + run + ")"
			}
			taken = append(taken, text)
		}
	}
	if n := len(p.survey.taken); n > 0 {
		taken = append(taken, fmt.Sprintf("%d nodes, the first of them %s", n, p.survey.taken[0]))
	}
	if len(taken) == 0 {
		return nil
	}
	return errors.New("these are there already, and are left alone:\n  " + strings.Join(taken, "\n  ") +
		"\nanother run may be under way; what is left of one that was killed is removed with --clean-up")
}

// Text tells what a run would do to the cluster.
func (p *Plan) Text() string {
	var b strings.Builder
	s, d := p.survey, p.spec.Load
	fmt.Fprintf(&b, "%s on %s: %s, %d nodes, %s\n", p.options.Rung.ID, p.options.Config.Host, s.version, len(s.nodes), apiserversText(s.apiservers))
	fmt.Fprintf(&b, "\nLoad, by %d Pods of %s, for %s:\n", p.spec.Parts, p.options.Image, d.Duration())
	for _, line := range loadText(d) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	if p.spec.Probe {
		fmt.Fprintf(&b, "  %g core API calls a second, to feel the rest\n", load.ProbeCallsPerSecond)
	}
	if d.Nodes > 0 && len(s.daemons) > 0 {
		fmt.Fprintf(&b, "  hollow nodes are tainted, but %s tolerate everything: %d Pods that never run\n", strings.Join(s.daemons, ", "), d.Nodes*len(s.daemons))
	}
	b.WriteString("\nMade for it, and removed afterwards, all labelled " + RunLabel + ":\n")
	for _, o := range p.objects {
		fmt.Fprintf(&b, "  %s\n", o)
	}
	if d.Nodes > 0 {
		fmt.Fprintf(&b, "  %d nodes %s-*, and their Leases\n", d.Nodes, nodePrefix)
	}
	b.WriteString("\nLooked at:\n")
	for _, x := range p.view.seen {
		fmt.Fprintf(&b, "  %s: %s\n", x.Prefix, x.Source.Name)
	}
	for _, remark := range p.view.told() {
		fmt.Fprintf(&b, "  %s\n", remark)
	}
	return b.String()
}

func apiserversText(n int) string {
	switch n {
	case 0:
		return "an unknown number of apiservers"
	case 1:
		return "1 apiserver"
	}
	return fmt.Sprintf("%d apiservers", n)
}

func loadText(d prove.Demand) []string {
	var all []string
	say := func(format string, n float64) {
		if n > 0 {
			all = append(all, fmt.Sprintf(format, n))
		}
	}
	by := "the driver"
	if d.NodesBy == load.Kwok {
		by = "kwok"
	}
	say("%g hollow nodes, whose Leases "+by+" renews", float64(d.Nodes))
	say("%g Pods a second", d.PodsPerSecond)
	say("%g objects of custom resources", float64(d.Objects))
	say("%g Roles", float64(d.RBACObjects))
	say("%g writes a second to custom resources", d.WritesPerSecond)
	say("%g Events a second", d.EventsPerSecond)
	say("%g leader elections", float64(d.Elections))
	say("%g watches, each of one shard", float64(d.Shards))
	return all
}
