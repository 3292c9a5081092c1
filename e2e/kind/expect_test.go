//go:build kind

package kind

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// expectation is what the prose of a step's Expect means.
type expectation struct {
	// title begins that of the step.
	title string
	met   func(live *running, out string) error
}

var expectations = []expectation{
	{"Back up the main etcd", says(`(?m)^[|│] *[0-9a-f]{6,8} [|│]`)},
	{"Merge the plan", says(`(?s)present\.yaml:1\n.*merged\.yaml:1\n.*> .*etcd-servers-overrides`)},
	{"Copy the files", says(`etcd-servers-overrides`)},
	{"Raise the quota", healthy},
	{"Start the etcd", healthy},
	{"Prepare for the aggregated tiers", says(`(?s)seams:aggregated-server.*seams-aggregated.*\nyes\n$`)},
	{"Make the keys of", says(`: OK\n$`)},
	{"Start the servers of", says(`^ok$`)},
	{"Move the group", says(`(?s)seams-system/` + tierName + `.*True.*"v1"`)},
	{"Give the members", healthy},
	{"Stop controller managers", func(_ *running, out string) error {
		if out != "" {
			return fmt.Errorf("still there: %s", out)
		}
		return nil
	}},
	{"Switch all apiservers together", func(live *running, out string) error { return counts(out, len(live.hosts)+1) }},
	{"Start controller manager and scheduler", func(_ *running, out string) error { return lately(out, 2) }},
	{"Restart what elects", func(live *running, out string) error {
		if err := allReady(live, out); err != nil {
			return err
		}
		return lately(out, 2+len(live.hosts)+1)
	}},
	{"Change the kubelets", allReady},
	{"Delete the old leases", func(_ *running, out string) error {
		all := count.FindAllStringSubmatch(out, -1)
		if len(all) != 2 || all[0][1] != "0" || all[1][1] == "0" {
			return fmt.Errorf("counts %v", all)
		}
		return nil
	}},
}

// says is met by an output that a pattern is found in.
func says(pattern string) func(*running, string) error {
	re := regexp.MustCompile(pattern)
	return func(_ *running, out string) error {
		if !re.MatchString(out) {
			return fmt.Errorf("no %s in\n%s", re, out)
		}
		return nil
	}
}

func healthy(live *running, out string) error {
	if n := strings.Count(out, "is healthy"); n != len(live.hosts) || strings.Contains(out, "alarm:") {
		return fmt.Errorf("%d healthy members of %d: %s", n, len(live.hosts), out)
	}
	return nil
}

var count = regexp.MustCompile(`"Count" : (\d+)`)

func counts(out string, want int) error {
	m := count.FindStringSubmatch(out)
	if m == nil || m[1] != strconv.Itoa(want) {
		return fmt.Errorf("not a count of %d: %s", want, out)
	}
	return nil
}

var instant = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`)

// lately is met when at least so many leases were renewed and each of them was
// so within its duration, which is 40 s for a node and less for an election.
// Those of apiservers are renewed every 10 s and live for an hour.
func lately(out string, atLeast int) error {
	n := 0
	for line := range strings.Lines(out) {
		at := instant.FindString(line)
		if at == "" {
			continue
		}
		renewed, err := time.Parse(time.RFC3339Nano, at)
		if err != nil {
			return err
		}
		if age := time.Since(renewed); age > 40*time.Second && !strings.Contains(line, "apiserver-") {
			return fmt.Errorf("renewed %s ago: %s", age.Round(time.Second), line)
		}
		n++
	}
	if n < atLeast {
		return fmt.Errorf("%d renewals of %d: %s", n, atLeast, out)
	}
	return nil
}

func allReady(live *running, out string) error {
	n := 0
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 5 && strings.HasPrefix(f[0], live.name+"-") {
			if f[1] != "Ready" {
				return fmt.Errorf("not Ready: %s", line)
			}
			n++
		}
	}
	if n != len(live.hosts)+1 {
		return fmt.Errorf("%d nodes of %d: %s", n, len(live.hosts)+1, out)
	}
	return nil
}
