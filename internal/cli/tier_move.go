package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubeseams/seams/internal/etcdclient"
	"github.com/kubeseams/seams/internal/tier"
)

// tierMoveFlags are those of tier move.
type tierMoveFlags struct {
	tierFlags
	output         outputFlag
	to             string
	main, tier     etcdFlags
	yes            bool
	resume         bool
	rollback       bool
	cleanUp        bool
	status         bool
	keepDefinition bool
	maxBump        int64
	settle         time.Duration
	lock           time.Duration
}

// etcdFlags say how one etcd is reached.
type etcdFlags struct {
	access etcdclient.Access
	prefix string
}

func (f *etcdFlags) register(cmd *cobra.Command, name, of string) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.access.Endpoints, name, nil, "client URLs of "+of)
	flags.StringVar(&f.access.CAFile, name+"-ca", "", "certificate of the authority that signed its members'")
	flags.StringVar(&f.access.CertFile, name+"-cert", "", "client certificate for it, such as an API server's own")
	flags.StringVar(&f.access.KeyFile, name+"-key", "", "key of that certificate")
	flags.StringVar(&f.prefix, name+"-prefix", "/registry", "--etcd-prefix of the API server that uses it")
}

func (f *etcdFlags) check(name string) error {
	var errs []error
	if len(f.access.Endpoints) == 0 {
		errs = append(errs, fmt.Errorf("--%s: want the client URLs of its members", name))
	}
	for _, part := range []struct{ suffix, value string }{{"ca", f.access.CAFile}, {"cert", f.access.CertFile}, {"key", f.access.KeyFile}} {
		if part.value == "" {
			errs = append(errs, fmt.Errorf("--%s-%s: want a file", name, part.suffix))
		}
	}
	return errors.Join(errs...)
}

func newTierMoveCmd(streams Streams, name string) *cobra.Command {
	var flags tierMoveFlags
	cmd := &cobra.Command{
		Use:   "move GROUP --to tier|main",
		Short: "move a group's objects into a tier or back, while the cluster runs",
		Long: `move takes all objects of a group from main's etcd to a tier's, or back, byte for
byte: names, uids, owner references, finalizers, status and managed fields stay.
Writes to the group are refused in the meantime, reads go on.

  freeze   a ValidatingAdmissionPolicy refuses writes to the group
  fence    the target's etcd is raised beyond the source's revision
  copy     keys are copied until nothing differs
  define   the target serves the group
  switch   kube-apiservers lead to the target
  close    watches of the source end, and their clients list anew
  verify   both etcds and what is served are compared
  thaw     writes are taken again

How far it is stands in a ConfigMap in kube-system. Interrupted anywhere, it goes
on with --resume, or back with --rollback until writes were taken again; after
that, --to the other side goes back. The source's old keys stay until --clean-up.

It needs both etcds: their client URLs with a client certificate, such as the API
servers' own. Objects that are encrypted at rest are refused.

Without --yes it says what it would do and does nothing.`,
		Example: examples(name, `
# what would be moved (flags of the etcds as below)
%[1]s tier move sandboxes.example.dev --to tier $FLAGS

# do it; FLAGS on a kubeadm host:
#   --kubeconfig /etc/kubernetes/admin.conf --tier-service seams-system/hot:9443
#   --tier-server https://10.0.0.11:9443 --tier-ca /etc/kubernetes/pki/aggregated/ca.crt
#   --main-etcd https://127.0.0.1:2379 --main-etcd-ca /etc/kubernetes/pki/etcd/ca.crt
#   --main-etcd-cert /etc/kubernetes/pki/apiserver-etcd-client.crt --main-etcd-key /etc/kubernetes/pki/apiserver-etcd-client.key
#   --tier-etcd https://127.0.0.1:2389 --tier-etcd-ca ... --tier-etcd-cert ... --tier-etcd-key ...
%[1]s tier move sandboxes.example.dev --to tier $FLAGS --yes

# after an interruption: on, or back
%[1]s tier move sandboxes.example.dev $FLAGS --resume
%[1]s tier move sandboxes.example.dev $FLAGS --rollback

# some days later: delete the old keys in main's etcd
%[1]s tier move sandboxes.example.dev $FLAGS --clean-up --keep-definition
`),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTierMove(cmd.Context(), streams, args[0], &flags)
		},
	}
	flags.register(cmd)
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions([]string{"tier", "main"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// register adds the flags to the command.
func (f *tierMoveFlags) register(cmd *cobra.Command) {
	f.output.register(cmd)
	f.tierFlags.register(cmd)
	f.main.register(cmd, "main-etcd", "the etcd of kube-apiserver's custom resources")
	f.tier.register(cmd, "tier-etcd", "the tier's etcd")
	set := cmd.Flags()
	set.StringVar(&f.to, "to", "", "where the group goes: tier or main")
	set.BoolVar(&f.yes, "yes", false, "do it; without it the plan is printed and nothing is done")
	set.BoolVar(&f.resume, "resume", false, "go on with a move, or a rollback, that was interrupted")
	set.BoolVar(&f.rollback, "rollback", false, "undo a move that is not over")
	set.BoolVar(&f.cleanUp, "clean-up", false, "delete the source's keys after a move")
	set.BoolVar(&f.status, "status", false, "say how far a move is, and do nothing")
	set.BoolVar(&f.keepDefinition, "keep-definition", false, "with --clean-up: leave the definitions in the main server")
	set.Int64Var(&f.maxBump, "max-bump", 1_000_000, "writes that may be made to raise a revision")
	set.DurationVar(&f.settle, "settle", 3*time.Second, "time for writes to end that were on their way when the group was frozen")
	set.DurationVar(&f.lock, "lock", 30*time.Second, "how long others wait for a sign of this mover before they take its lock")
}

// check finds what is wrong with the flags, all at once.
func (f *tierMoveFlags) check(group string) error {
	errs := []error{f.tierFlags.check()}
	asked := 0
	for _, set := range []bool{f.resume, f.rollback, f.cleanUp, f.status} {
		if set {
			asked++
		}
	}
	switch {
	case asked > 1:
		errs = append(errs, errors.New("--resume, --rollback, --clean-up and --status: want one of them"))
	case asked == 0 && f.to != string(tier.Tier) && f.to != string(tier.Main):
		errs = append(errs, errors.New("--to: want tier or main"))
	case asked == 1 && f.to != "":
		errs = append(errs, errors.New("--to: the move knows where it goes; leave it out"))
	}
	for _, problem := range validation.IsDNS1123Subdomain(group) {
		errs = append(errs, fmt.Errorf("group %q: %s", group, problem))
	}
	if !f.status {
		errs = append(errs, f.main.check("main-etcd"), f.tier.check("tier-etcd"))
	}
	if f.settle <= 0 || f.lock < time.Second || f.maxBump < 0 {
		errs = append(errs, errors.New("--settle, --lock and --max-bump: want more than nothing, and at least a second for --lock"))
	}
	if f.keepDefinition && !f.cleanUp {
		errs = append(errs, errors.New("--keep-definition: goes with --clean-up; a move itself leaves the definitions"))
	}
	return errors.Join(errs...)
}

func runTierMove(ctx context.Context, streams Streams, group string, f *tierMoveFlags) error {
	if err := f.check(group); err != nil {
		return err
	}
	cluster, err := f.connect(ctx)
	if err != nil {
		return err
	}
	if f.status {
		return f.tell(ctx, streams, cluster, group)
	}
	to := tier.Place(f.to)
	if to == "" {
		to = tier.Tier // the journal says where it goes
	}
	m, err := tier.NewMover(ctx, tier.MoveOptions{
		Cluster: cluster, Group: group, To: to,
		MainEtcd: f.main.access, TierEtcd: f.tier.access, MainPrefix: f.main.prefix, TierPrefix: f.tier.prefix,
		MaxBump: f.maxBump, Settle: f.settle, LockDuration: f.lock, Holder: mover(), Log: streams.Err,
	})
	if err != nil {
		return err
	}
	switch {
	case f.resume:
		return m.Resume(ctx)
	case f.rollback:
		return m.Rollback(ctx)
	case f.cleanUp:
		return m.CleanUp(ctx, f.keepDefinition)
	case f.yes:
		return m.Move(ctx)
	}
	survey, err := m.Survey(ctx)
	if err != nil {
		return err
	}
	if !f.output.isText() {
		return f.output.write(streams.Out, survey)
	}
	fmt.Fprint(streams.Out, survey.Text())
	fmt.Fprintln(streams.Err, "nothing was done; do it with --yes")
	return nil
}

// tell says how far a move is.
func (f *tierMoveFlags) tell(ctx context.Context, streams Streams, cluster tier.Cluster, group string) error {
	j, err := tier.ReadJournal(ctx, cluster.Main[0], group)
	if err != nil {
		return err
	}
	switch {
	case !f.output.isText():
		return f.output.write(streams.Out, j)
	case j == nil:
		fmt.Fprintf(streams.Out, "no move of %s\n", group)
	case j.Step == tier.Done:
		fmt.Fprintf(streams.Out, "%s was moved to %s; %s has its old keys\n", group, j.To, j.To.Other())
	case j.RollingBack:
		fmt.Fprintf(streams.Out, "the move of %s to %s is being undone from the step %s\n", group, j.To, j.Step)
	default:
		fmt.Fprintf(streams.Out, "the move of %s to %s is at the step %s\n", group, j.To, j.Step)
	}
	return nil
}

// mover is who this process is, to others that want the lock.
func mover() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
}
