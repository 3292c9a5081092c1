package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubeseams/seams"
	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/finding"
	"github.com/kubeseams/seams/internal/prove"
	"github.com/kubeseams/seams/internal/quantity"
	"github.com/kubeseams/seams/internal/recipe"
)

func newLadderCmd(streams Streams, name string) *cobra.Command {
	var (
		output  outputFlag
		recipes []string
	)
	cmd := &cobra.Command{
		Use:   "ladder [RUNG...]",
		Short: "show the ladder of recipes, or one rung in full",
		Long: `ladder lists the rungs of all three axes, lowest first, with how far each
one's numbers can be trusted: validated (proven by our own runs), published (a
vanilla control plane's published figures), derived (computed from published
figures), open (nobody has built it). With a rung's name it shows envelope,
moves, requirements, hazards, proof and evidence.`,
		Example: examples(name, `
%[1]s ladder
%[1]s ladder node/leases-store
%[1]s ladder --recipes ./my-rungs
%[1]s ladder -o json | jq '.[] | select(.status == "open")'
`),
		ValidArgsFunction: completeRungs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ladder, findings, err := recipe.Load(recipe.Options{Dirs: recipes})
			if err != nil {
				return err
			}
			printFindings(streams, findings)
			if finding.AtLeast(findings, finding.Error) {
				return exit(exitFailure)
			}
			standings, err := prove.Standings(cmd.Context(), ladder, seams.CUE, prove.EvidenceDir)
			if err != nil {
				return err
			}
			return runLadder(streams, ladder.Rungs(), standings, args, output)
		},
	}
	output.register(cmd)
	cmd.Flags().StringArrayVar(&recipes, "recipes", nil, "directory of further rungs in CUE; repeatable")
	return cmd
}

// rungWithRecord is a rung as `ladder` prints it for machines.
type rungWithRecord struct {
	recipe.Rung
	// Run is the project's own run of the rung's proof, if there is one.
	Run *prove.Evidence `json:"run,omitempty"`
}

func runLadder(streams Streams, rungs []recipe.Rung, standings map[string]prove.Evidence, names []string, output outputFlag) error {
	if len(names) > 0 {
		var err error
		if rungs, err = pickRungs(rungs, names); err != nil {
			return err
		}
	}
	if !output.isText() {
		all := make([]rungWithRecord, len(rungs))
		for i, r := range rungs {
			all[i].Rung = r
			if e, ok := standings[r.ID]; ok {
				all[i].Run = &e
			}
		}
		return output.write(streams.Out, all)
	}
	if len(names) == 0 {
		ladderTable(streams, rungs, standings)
		return nil
	}
	for i, r := range rungs {
		if i > 0 {
			fmt.Fprintln(streams.Out)
		}
		rungText(streams, r, standings)
	}
	return nil
}

func pickRungs(rungs []recipe.Rung, names []string) ([]recipe.Rung, error) {
	var picked []recipe.Rung
	for _, name := range names {
		i := slices.IndexFunc(rungs, func(r recipe.Rung) bool { return r.ID == name })
		if i < 0 {
			var ids []string
			for _, r := range rungs {
				ids = append(ids, r.ID)
			}
			return nil, fmt.Errorf("no rung %q: want one of %s", name, strings.Join(ids, ", "))
		}
		picked = append(picked, rungs[i])
	}
	return picked, nil
}

func ladderTable(s Streams, rungs []recipe.Rung, standings map[string]prove.Evidence) {
	for i, axis := range estimate.Axes {
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		t := newTable("RUNG", "STATUS", "RUN", "UP TO", "WHAT IT DOES")
		var below map[string]float64
		for _, r := range rungs {
			if r.Axis == axis {
				upTo := limitsText(r.Envelope[axis], 1)
				// On the state axis a rung lowers what counts against the limits.
				if len(below) > 0 && maps.Equal(below, r.Envelope[axis]) {
					upTo = "the same, of less"
				}
				t.add(r.ID, cell{string(r.Status), statusColour(r.Status)}, standingCell(standings, r.ID), upTo, rungTitle(r))
				below = r.Envelope[axis]
			}
		}
		fmt.Fprintln(s.Out, paint(s, bold, string(axis)+"-bound"))
		t.print(s.Out, s, "  ")
	}
}

// rungTitle marks the rungs that join a recipe only when asked for.
func rungTitle(r recipe.Rung) string {
	if r.Optional {
		return r.Title + " (--rung)"
	}
	return r.Title
}

// firstLimits are the measures that tell most about an axis, shown first.
var firstLimits = []string{"nodes", "livenessWritesPerSecond", "customWritesPerSecond", "eventWritesPerSecond", "memoryRatio", "typeBytes"}

// limitsText writes an envelope's limits, at most n of them.
func limitsText(limits map[string]float64, n int) string {
	var parts []string
	names := slices.Sorted(maps.Keys(limits))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(limitRank(a), limitRank(b)) })
	for _, k := range names {
		parts = append(parts, measureText(k)+" "+limitText(k, limits[k]))
	}
	if n > 0 {
		return listSome(parts, n)
	}
	return strings.Join(parts, ", ")
}

// limitText writes a limit with all its digits, and bytes as bytes.
func limitText(name string, v float64) string {
	switch {
	case strings.HasSuffix(name, "BytesPerSecond"), strings.HasSuffix(name, "Bytes"):
		return quantity.Decimal(v)
	}
	return quantity.Exact(v)
}

func limitRank(name string) int {
	if i := slices.Index(firstLimits, name); i >= 0 {
		return i
	}
	return len(firstLimits)
}

// measureText makes words of a measure's name: "livenessWritesPerSecond" is "liveness writes/s".
func measureText(name string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(name, "PerSecond", "/s") {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func rungText(s Streams, r recipe.Rung, standings map[string]prove.Evidence) {
	w := s.Out
	fmt.Fprintf(w, "%s  %s\n", paint(s, bold, r.ID), paint(s, statusColour(r.Status), string(r.Status)))
	fmt.Fprintf(w, "%s\n\n", r.Title)
	paragraph(w, r.Summary)
	if len(r.Seams) > 0 {
		fmt.Fprintf(w, "\n  seams: %s\n", strings.Join(r.Seams, ", "))
	}
	section(s, "Envelope (high band of the demand)")
	for _, axis := range estimate.Axes {
		if limits := r.Envelope[axis]; len(limits) > 0 {
			wrap(w, string(axis)+": "+limitsText(limits, 0), "  ")
		}
	}
	if text := requiresText(r.Requires); text != "" {
		section(s, "Requires")
		paragraph(w, text)
	}
	if len(r.Moves) > 0 {
		section(s, "Moves")
		movesText(w, "  ", map[string]any(r.Moves))
	}
	if len(r.Hazards) > 0 {
		section(s, "Hazards")
		for _, h := range r.Hazards {
			wrap(w, "- "+h.What+" Contained by: "+h.Mitigation, "  ")
		}
	}
	if r.Proof != nil {
		section(s, "Proof")
		for _, l := range r.Proof.Limits {
			wrap(w, fmt.Sprintf("- %s %s %s %s (%s): %s", l.Metric, l.Op, quantity.Exact(l.Value), l.Unit, l.Against, l.Why), "  ")
		}
	}
	if e, ok := standings[r.ID]; ok {
		section(s, "Last run")
		standingText(s, e)
	}
	section(s, "Evidence")
	if len(r.Evidence) == 0 {
		fmt.Fprintln(w, "  none: nobody has shown this to hold")
	}
	for _, e := range r.Evidence {
		kind := e.Kind
		if !e.Vanilla {
			kind += ", not a vanilla control plane"
		}
		wrap(w, fmt.Sprintf("- %s [%s] %s", e.Claim, kind, e.Source), "  ")
	}
}

func requiresText(r recipe.Requires) string {
	var parts []string
	add := func(format, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("Kubernetes %s or later", r.KubernetesMin)
	add("Kubernetes %s or earlier", r.KubernetesMax)
	add("kOps %s or later", r.KopsMin)
	add("etcd %s or later", r.EtcdMin)
	for _, gate := range slices.Sorted(maps.Keys(r.FeatureGates)) {
		parts = append(parts, "feature gate "+gate+" ("+r.FeatureGates[gate]+")")
	}
	for _, p := range r.Predicates {
		parts = append(parts, p)
	}
	if len(r.Platforms) > 0 {
		parts = append(parts, "platform "+strings.Join(r.Platforms, " or "))
	}
	return strings.Join(parts, "; ")
}

// movesText prints settings as an indented tree with sorted keys.
func movesText(w io.Writer, indent string, m map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if sub, ok := m[k].(map[string]any); ok {
			fmt.Fprintf(w, "%s%s\n", indent, k)
			movesText(w, indent+"  ", sub)
			continue
		}
		text := fmt.Sprint(m[k])
		if k == "members" && text == "0" {
			text += " (one on each control-plane host)"
		}
		fmt.Fprintf(w, "%s%s: %s\n", indent, k, text)
	}
}
