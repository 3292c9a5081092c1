package report

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/kubeseams/seams/internal/estimate"
	"github.com/kubeseams/seams/internal/quantity"
)

// numberView is a number that leads to the figure it is.
type numberView struct{ Text, Band, Ref string }

// figureView is a figure in full.
type figureView struct {
	Ref, ID, Label, Value, Band, Formula, Source string
	Inputs                                       []inputView
}

type inputView struct{ Name, Value, Source, Ref string }

// figureSet is the figures of one layout.
type figureSet struct {
	Name, Note string
	Groups     []figureGroup
	Count      int
}

type figureGroup struct {
	Title   string
	Figures []figureView
}

// figureIndex knows which figures the page shows in full, and where: all of
// today's layout, and of the others those that differ from it.
type figureIndex struct {
	sets  []figureSet
	known map[string]bool
}

// newFigureIndex takes the layouts in the order they are shown, today's first.
func newFigureIndex(layouts ...layoutFigures) *figureIndex {
	x := &figureIndex{known: map[string]bool{}}
	first := map[string]estimate.Figure{}
	for i, l := range layouts {
		kept := l.figures()
		if i == 0 {
			for _, f := range kept {
				first[f.ID] = f
			}
		} else {
			var differ []estimate.Figure
			for _, f := range kept {
				if was, ok := first[f.ID]; !ok || !reflect.DeepEqual(was, f) {
					differ = append(differ, f)
				}
			}
			kept = differ
		}
		for _, f := range kept {
			x.known[anchor(l.class, f.ID)] = true
		}
		x.sets = append(x.sets, x.set(l, kept))
	}
	return x
}

// layoutFigures is a layout's estimate, and what it is called.
type layoutFigures struct {
	class, name, note string
	estimate          *estimate.Estimate
}

// figures are those of the estimate, and the ratios of its pressures.
func (l layoutFigures) figures() []estimate.Figure {
	all := append([]estimate.Figure{}, l.estimate.Figures...)
	for _, p := range l.estimate.Pressures {
		all = append(all, p.Ratios...)
	}
	return all
}

func anchor(class, id string) string {
	return class + "-" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, id)
}

// ref is the place of a figure of a layout, or of today's where it is the same there; empty without any.
func (x *figureIndex) ref(class, id string) string {
	for _, c := range []string{class, "present"} {
		if a := anchor(c, id); x.known[a] {
			return a
		}
	}
	return ""
}

// number writes a figure's value, and leads to the rest of it.
func (x *figureIndex) number(f estimate.Figure, class string) numberView {
	n := numberView{Text: quantity.InUnit(f.Value, f.Unit), Ref: x.ref(class, f.ID)}
	if f.Low != f.High {
		n.Band = quantity.InUnit(f.Low, f.Unit) + " to " + quantity.InUnit(f.High, f.Unit)
	}
	return n
}

// set sorts a layout's figures by what they are about, in the order of the estimate.
func (x *figureIndex) set(l layoutFigures, kept []estimate.Figure) figureSet {
	s := figureSet{Name: l.name, Note: l.note, Count: len(kept)}
	titles := []string{"Pressures", "Stores", "API servers", "Resources"}
	groups := map[string][]figureView{}
	for _, f := range kept {
		title := "API servers"
		switch head, _, _ := strings.Cut(f.ID, "."); head {
		case "pressure":
			title = "Pressures"
		case "store":
			title = "Stores"
		case "resource", "rbac", "crds":
			title = "Resources"
		}
		groups[title] = append(groups[title], x.view(l.class, f))
	}
	for _, title := range titles {
		if len(groups[title]) > 0 {
			s.Groups = append(s.Groups, figureGroup{title, groups[title]})
		}
	}
	return s
}

func (x *figureIndex) view(class string, f estimate.Figure) figureView {
	v := figureView{Ref: anchor(class, f.ID), ID: f.ID, Label: f.Label, Value: quantity.InUnit(f.Value, f.Unit), Formula: f.Formula, Source: f.Source}
	if f.Low != f.High {
		v.Band = fmt.Sprintf("%s to %s", quantity.InUnit(f.Low, f.Unit), quantity.InUnit(f.High, f.Unit))
	}
	for _, in := range f.Inputs {
		i := inputView{Name: in.Name, Value: quantity.InUnit(in.Value, in.Unit), Source: in.Source}
		if id, ok := strings.CutPrefix(in.Source, "figure "); ok {
			i.Ref = x.ref(class, id)
		}
		v.Inputs = append(v.Inputs, i)
	}
	return v
}
