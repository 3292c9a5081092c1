package rollout

import (
	"fmt"
	"strings"

	"github.com/kubeseams/seams/internal/file"
	"github.com/kubeseams/seams/internal/plan"
	"github.com/kubeseams/seams/internal/target"
)

// Path is where the rollout stands among the rendered files.
const Path = "rollout.md"

// Render writes the rollout of a plan as Markdown: what is to stand where, the
// order for a new cluster, the order for a running one, and the keys.
func Render(p *plan.Plan) file.File { return render(p, sections(p)) }

// Running is Render for a plan that is merged into what a cluster has, without
// how to make a new one.
func Running(p *plan.Plan) file.File { return render(p, []section{running(p)}) }

func render(p *plan.Plan, sections []section) file.File {
	d := &document{}
	d.line("# Rollout of %s", p.Name)
	d.paragraph(fmt.Sprintf("Kubernetes %s on %s, for %s nodes. Recipe: %s.",
		p.Target.Kubernetes, p.Target.Platform, thousands(p.Nodes), strings.Join(p.Rungs, ", ")))
	d.paragraph("Do the steps in order, and the next one only when the check shows what is expected. Commands run as they stand from the directory of this file, with kubectl set up for the cluster and ssh as root to its control-plane hosts.")
	d.stores(p)
	d.tiers(p)
	d.aggregated(p)
	for _, s := range sections {
		d.steps(s)
	}
	d.keys(p)
	return file.File{Path: Path, Data: []byte(d.text.String())}
}

// sections are the lists of steps: how to make a new cluster, and how to bring
// the plan to one that runs. A new cluster differs: nothing has to be switched,
// but nothing is there either on which to run a command.
func sections(p *plan.Plan) []section {
	switch p.Target.Platform {
	case target.Kubeadm:
		return []section{{
			title: "A new cluster",
			intro: kubeadmIntro(p),
			steps: append(kubeadmSteps(p), tierSteps(p)...),
		}, running(p)}
	case target.StaticPod:
		return []section{{
			title: "A new cluster",
			intro: "All hosts start together: each etcd begins with all of its members, and the apiservers restart until theirs have a majority.",
			steps: append(staticPodSteps(p), tierSteps(p)...),
		}, running(p)}
	case target.Kind:
		return []section{{
			title: "A new cluster",
			intro: "kind makes a cluster once and does not change it. What it does not do by itself follows the making.",
			steps: kindSteps(p),
		}}
	}
	return []section{running(p)}
}

func running(p *plan.Plan) section {
	return section{
		title: "A cluster that runs",
		intro: "From the present state, taken to be upstream's defaults and your own settings besides, to the plan. Steps whose effect is there already can be skipped.",
		steps: p.Rollout,
	}
}

// section is a list of steps with a heading of its own.
type section struct {
	title, intro string
	steps        []plan.Step
}

// document is the Markdown under way.
type document struct{ text strings.Builder }

func (d *document) line(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

func (d *document) paragraph(text string) { d.line("\n%s", text) }

// fence writes commands in a fence that none of them can close.
func (d *document) fence(commands []string) {
	body := strings.Join(commands, "\n")
	ticks := "```"
	for strings.Contains(body, ticks) {
		ticks += "`"
	}
	d.line("\n%ssh\n%s\n%s", ticks, body, ticks)
}

// steps writes a section, or nothing when it has no steps.
func (d *document) steps(s section) {
	if len(s.steps) == 0 {
		return
	}
	d.line("\n## %s", s.title)
	d.paragraph(s.intro)
	for i, step := range s.steps {
		d.step(i+1, step)
	}
}

func (d *document) step(n int, s plan.Step) {
	d.line("\n### %d. %s", n, s.Title)
	if s.Why != "" {
		d.paragraph(s.Why)
	}
	if len(s.Commands) > 0 {
		d.fence(s.Commands)
	}
	if s.Check != "" {
		d.paragraph("**Check:**")
		d.fence([]string{s.Check})
	}
	for _, note := range []struct{ name, text string }{{"Expect", s.Expect}, {"Hazard", s.Hazard}, {"Undo", s.Undo}} {
		if note.text != "" {
			d.paragraph("**" + note.name + ":** " + note.text)
		}
	}
}

// table writes a table, or nothing without rows.
func (d *document) table(title string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	d.line("\n## %s\n", title)
	d.row(head)
	rule := make([]string, len(head))
	for i := range rule {
		rule[i] = "---"
	}
	d.row(rule)
	for _, row := range rows {
		d.row(row)
	}
}

// inCell keeps a cell on its line and in its column.
var inCell = strings.NewReplacer("|", `\|`, "\n", " ")

func (d *document) row(cells []string) {
	for i, c := range cells {
		cells[i] = inCell.Replace(c)
	}
	d.line("| %s |", strings.Join(cells, " | "))
}

// thousands writes a number with separators.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
