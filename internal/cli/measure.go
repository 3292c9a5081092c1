package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/measure"
	"github.com/kubeseams/seams/internal/scrape"
)

// measureFlags are the flags of measure.
type measureFlags struct {
	output outputFlag
	failOn failOnFlag

	kubeconfig, context string
	window              time.Duration
	sample              int
	servers, etcdURLs   []string

	files, etcdFiles []string
	interval         time.Duration

	name  string
	out   string
	force bool
	quiet bool
}

func newMeasureCmd(streams Streams, name string) *cobra.Command {
	var flags measureFlags
	cmd := &cobra.Command{
		Use:   "measure (--kubeconfig FILE | BEFORE [AFTER])",
		Short: "make a profile of a running cluster, or of saved /metrics",
		Long: `measure looks at a cluster and writes the profile of the load it carries: nodes
and their leases, what is written to which resource and how often, how many
objects of what size there are, and what the control plane consists of. Each
value has a comment that says where it comes from. What could not be seen keeps
the profile's default, is named in a comment, and is a finding.

With --kubeconfig it reads the /metrics of every apiserver twice, a --window
apart, and some objects of each kind for their size; it changes nothing. Without,
it reads saved metrics: BEFORE and AFTER are two looks at one apiserver, taken
--interval apart; --apiserver BEFORE,AFTER adds one, and --etcd BEFORE,AFTER a
member of the main etcd. One look tells what is there, and no rates. Pages are
Prometheus text as /metrics answers it, not compressed. Looks in the wrong order,
at two processes, or at one process that is given twice are refused.`,
		Example: examples(name, `
%[1]s measure --kubeconfig ~/.kube/config --window 5m > cluster.yaml
%[1]s measure --kubeconfig ~/.kube/config --etcd-url http://10.0.0.11:2381 -O cluster.yaml
%[1]s explain -f cluster.yaml

# from saved metrics
kubectl get --raw /metrics > before.txt; sleep 300; kubectl get --raw /metrics > after.txt
%[1]s measure before.txt after.txt --interval 5m
%[1]s measure --apiserver a1.txt,a2.txt --apiserver b1.txt,b2.txt --etcd e1.txt,e2.txt --interval 5m
`),
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runMeasure(cmd.Context(), streams, &flags, args)
		},
	}
	flags.output.register(cmd)
	flags.failOn.register(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.kubeconfig, "kubeconfig", "", "look at the cluster of this kubeconfig")
	f.StringVar(&flags.context, "context", "", "context of the kubeconfig (default: its current one)")
	f.DurationVar(&flags.window, "window", 2*time.Minute, "time between the two looks at a cluster; 0 looks once")
	f.IntVar(&flags.sample, "sample", 50, "objects of a kind that are read for their size; 0 reads none")
	f.StringArrayVar(&flags.servers, "server", nil, "address of an apiserver, https://HOST:PORT, in place of those that the cluster tells; repeatable")
	f.StringArrayVar(&flags.etcdURLs, "etcd-url", nil, "address of the metrics of a member of the main etcd; repeatable")
	f.StringArrayVar(&flags.files, "apiserver", nil, "saved metrics of an apiserver, BEFORE,AFTER or one look alone; repeatable")
	f.StringArrayVar(&flags.etcdFiles, "etcd", nil, "saved metrics of a member of the main etcd, likewise; repeatable")
	f.DurationVar(&flags.interval, "interval", 0, "time between the looks of saved metrics")
	f.StringVar(&flags.name, "name", "", "name of the profile (default: the context's, or that of the file)")
	f.StringVarP(&flags.out, "out", "O", "-", "file to write the profile to, or - to print it")
	f.BoolVar(&flags.force, "force", false, "overwrite a file that exists")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "say nothing but errors")
	_ = cmd.MarkFlagFilename("kubeconfig")
	return cmd
}

func runMeasure(ctx context.Context, streams Streams, flags *measureFlags, args []string) error {
	if err := flags.writable(); err != nil {
		return err
	}
	if len(args) > 0 {
		flags.files = append([]string{strings.Join(args, ",")}, flags.files...)
	}
	o, err := flags.observe(ctx, streams)
	if err != nil {
		return err
	}
	document, findings, err := measure.Profile(o)
	if err != nil {
		return err
	}
	data := document.YAML()
	if flags.output == "json" {
		data = document.JSON()
	}
	if err := flags.write(streams, data); err != nil {
		return err
	}
	if !flags.quiet {
		printFindings(streams, findings)
	}
	return flags.failOn.verdict(findings)
}

// writable refuses a place for the profile before a cluster is looked at for
// minutes.
func (f *measureFlags) writable() error {
	if f.out == "" {
		return errors.New("-O is empty: name a file, or - to print")
	}
	info, err := os.Stat(f.out)
	switch {
	case f.out == "-" || err != nil:
		return nil
	case info.IsDir():
		return fmt.Errorf("-O %s is a directory: name a file in it", displayPath(f.out))
	case !f.force:
		return fmt.Errorf("-O %s exists: pass --force to overwrite it, or name another file", displayPath(f.out))
	}
	return nil
}

func (f *measureFlags) write(streams Streams, data []byte) error {
	if f.out == "-" {
		_, err := streams.Out.Write(data)
		return err
	}
	stage, err := newStage(filepath.Dir(f.out), f.force)
	if err != nil {
		return err
	}
	defer stage.close()
	if err := stage.add([]file.File{{Path: filepath.Base(f.out), Data: data}}); err != nil {
		return err
	}
	return stage.commit()
}

// observe looks at a cluster or at files, whichever was asked for.
func (f *measureFlags) observe(ctx context.Context, streams Streams) (*measure.Observation, error) {
	saved := len(f.files)+len(f.etcdFiles) > 0
	switch {
	case f.kubeconfig != "" && saved:
		return nil, errors.New("--kubeconfig looks at a cluster, and files are of another time: pass one or the other")
	case f.kubeconfig != "":
		return f.live(ctx, streams)
	case len(f.files) == 0:
		return nil, errors.New("nothing to measure: pass --kubeconfig FILE, or saved metrics of an apiserver")
	}
	return f.saved()
}

func (f *measureFlags) live(ctx context.Context, streams Streams) (*measure.Observation, error) {
	if f.window < 0 || f.sample < 0 {
		return nil, errors.New("--window and --sample are not negative")
	}
	config, err := (&clusterFlags{kubeconfig: f.kubeconfig, context: f.context}).config()
	if err != nil {
		return nil, err
	}
	o, err := measure.Live(ctx, measure.Options{
		Config: config, Window: f.window, Sample: f.sample, Servers: f.servers, Etcds: f.etcdURLs,
		Progress: func(text string) {
			if !f.quiet {
				fmt.Fprintln(streams.Err, text)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	o.Name = f.nameOr(f.context)
	if o.Name == "" {
		o.Name = strings.TrimSuffix(filepath.Base(f.kubeconfig), filepath.Ext(f.kubeconfig))
	}
	return o, nil
}

func (f *measureFlags) nameOr(other string) string {
	if f.name != "" {
		return f.name
	}
	return other
}

func (f *measureFlags) saved() (*measure.Observation, error) {
	apiservers, errServers := f.looks(f.files, "--apiserver")
	etcds, errEtcds := f.looks(f.etcdFiles, "--etcd")
	if err := errors.Join(onePageOnce(append(slices.Clone(f.files), f.etcdFiles...)), errServers, errEtcds); err != nil {
		return nil, err
	}
	o, err := measure.FromMetrics(apiservers, etcds)
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(f.files[0], ",")
	o.Name = f.nameOr(strings.TrimSuffix(filepath.Base(first), filepath.Ext(first)))
	return o, nil
}

// looks reads pairs of files, each of one process.
func (f *measureFlags) looks(pairs []string, flag string) (all []measure.Look, err error) {
	var errs []error
	for _, pair := range pairs {
		names := strings.Split(pair, ",")
		if len(names) > 2 || slices.Contains(names, "") {
			errs = append(errs, fmt.Errorf("%s %s: want BEFORE,AFTER, or one file", flag, pair))
			continue
		}
		if len(names) == 2 && f.interval <= 0 {
			errs = append(errs, fmt.Errorf("%s: two looks need the time between them, which their files do not tell: pass --interval, such as 5m", pair))
			continue
		}
		// Only the difference counts; the files do not tell when they were made.
		at := time.Unix(0, 0).UTC()
		l := measure.Look{Name: filepath.Base(names[0]), Files: pair}
		for _, name := range names {
			s, err := readMetrics(name, at)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			l.Before, l.After = l.After, s
			at = at.Add(f.interval)
		}
		all = append(all, l)
	}
	return all, errors.Join(errs...)
}

// onePageOnce refuses a file that is given twice, by whichever names: each page
// is of one process at one time.
func onePageOnce(pairs []string) error {
	var errs []error
	type seen struct {
		name string
		info os.FileInfo
	}
	var all []seen
	for _, name := range strings.Split(strings.Join(pairs, ","), ",") {
		info, err := os.Stat(name)
		if err != nil {
			continue // reading it says so
		}
		i := slices.IndexFunc(all, func(s seen) bool { return os.SameFile(s.info, info) })
		switch {
		case i < 0:
			all = append(all, seen{name, info})
		case all[i].name == name:
			errs = append(errs, fmt.Errorf("%s is given twice: each page is of one process at one time", displayPath(name)))
		default:
			errs = append(errs, fmt.Errorf("%s and %s are one file: each page is of one process at one time", displayPath(all[i].name), displayPath(name)))
		}
	}
	return errors.Join(errs...)
}

func readMetrics(name string, at time.Time) (*scrape.Snapshot, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := scrape.Read(f, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", displayPath(name), err)
	}
	if len(s.Names()) == 0 {
		return nil, fmt.Errorf("%s: no metrics are in it", displayPath(name))
	}
	return s, nil
}
