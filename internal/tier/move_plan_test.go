package tier

import (
	"slices"
	"strings"
	"testing"
)

// What is left to do and what to undo, for every step that a mover may have
// died in.
func TestForwardAndBack(t *testing.T) {
	for i, step := range steps() {
		j := Journal{Group: "g.example.dev", To: Tier, Step: step}
		left := j.forward()
		if step == Done {
			if left != nil {
				t.Errorf("a move that is over has %v to do", left)
			}
		} else if want := steps()[i : len(steps())-1]; !slices.Equal(left, want) {
			t.Errorf("%s: %v is left, want %v", step, left, want)
		}
		undo, err := j.back()
		if late := step == Thaw || step == Done; late != (err != nil) {
			t.Errorf("%s: back is %v, %v", step, undo, err)
		} else if !late && (len(undo) != i+1 || undo[0] != step || undo[i] != Freeze) {
			t.Errorf("%s: back is %v", step, undo)
		}
		for k, other := range steps() {
			if j.reached(other) != (k <= i) {
				t.Errorf("%s: reached(%s) is %t", step, other, j.reached(other))
			}
		}
		if step != Done && explain(step, Main) == explain(step, Tier) && step != Freeze && step != Thaw {
			t.Errorf("%s is explained alike for both places: %q", step, explain(step, Main))
		}
	}
	if (Journal{Step: "other"}).forward() != nil {
		t.Error("a step that nobody knows has something left to do")
	}
}

func TestAdmissible(t *testing.T) {
	running, over := &Journal{To: Tier, Step: Copy}, &Journal{To: Tier, Step: Done}
	thawing, undoing := &Journal{To: Tier, Step: Thaw}, &Journal{To: Tier, Step: Switch, RollingBack: true}
	cleaning := &Journal{To: Tier, Step: Done, CleaningUp: true}
	for _, c := range []struct {
		name string
		ask  request
		to   Place
		have *Journal
		want string // empty when it is admissible
	}{
		{"first", start, Tier, nil, ""},
		{"resume nothing", resume, Tier, nil, "no move"},
		{"roll back nothing", rollback, Tier, nil, "no move"},
		{"clean up nothing", cleanUp, Tier, nil, "no move"},
		{"two at once", start, Main, running, "--resume or back with --rollback"},
		{"go on", resume, Tier, running, ""},
		{"go back", rollback, Tier, running, ""},
		{"too early to clean up", cleanUp, Tier, running, "both sides are needed"},
		{"too late to go back", rollback, Tier, thawing, "--to main"},
		{"go on thawing", resume, Tier, thawing, ""},
		{"there already", start, Tier, over, "already"},
		{"back again", start, Main, over, ""},
		{"nothing left", resume, Tier, over, "is over"},
		{"roll back what is over", rollback, Tier, over, "--to main"},
		{"clean up", cleanUp, Tier, over, ""},
		{"go on going back", resume, Tier, undoing, ""},
		{"go on going back by its name", rollback, Tier, undoing, ""},
		{"a new one while going back", start, Main, undoing, "--rollback"},
		{"a new one while cleaning up", start, Main, cleaning, "finish it with --clean-up"},
		{"go on cleaning up", cleanUp, Tier, cleaning, ""},
	} {
		err := admissible(c.ask, "g.example.dev", c.to, c.have)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestMovableGroup(t *testing.T) {
	crds := map[string]*CRD{"widgets.hot.example.dev": definition(t, widgets).CRD}
	local, there, builtIn, elsewhere := service("v1", ""), service("v1", "hot"), service("v1", ""), service("v1", "other")
	local.Labels = map[string]string{automanaged: "true"}
	builtIn.Labels = map[string]string{automanaged: "onstart"}
	for _, c := range []struct {
		name     string
		from     Place
		services map[string]apiService
		crds     map[string]*CRD
		want     string
	}{
		{"from main", Main, map[string]apiService{"v1": local}, crds, ""},
		{"from the tier", Tier, map[string]apiService{"v1": there}, crds, ""},
		{"in the tier already", Main, map[string]apiService{"v1": there}, crds, "does not lead to main"},
		{"in main already", Tier, map[string]apiService{"v1": local}, crds, "does not lead to tier"},
		{"in another tier", Tier, map[string]apiService{"v1": elsewhere}, crds, "does not lead to tier"},
		{"built in", Main, map[string]apiService{"v1": builtIn}, crds, "kube-apiserver itself"},
		{"no definition", Main, map[string]apiService{"v1": local}, nil, "no CustomResourceDefinition"},
		{"no service", Main, nil, crds, "nothing leads to"},
		{"another version elsewhere", Main, map[string]apiService{"v1": local, "v2": service("v2", "other")}, crds, "v2.hot.example.dev"},
	} {
		versions, err := movableGroup(hot, "hot.example.dev", c.from, c.services, c.crds)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err == nil && !slices.Equal(versions, []string{"v1"}) {
			t.Errorf("%s: versions %v", c.name, versions)
		}
	}
}
