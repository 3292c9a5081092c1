package scrape

import (
	"fmt"
	"strings"
	"testing"
)

// page is what a process that began at start says after n calls.
func page(start float64, n int) string {
	return fmt.Sprintf(`# TYPE process_start_time_seconds gauge
process_start_time_seconds %v
# TYPE go_memstats_last_gc_time_seconds gauge
go_memstats_last_gc_time_seconds %d
# TYPE x counter
x{code="200"} %d
x{code="500"} %d
# TYPE h histogram
h_bucket{le="+Inf"} %d
h_sum 1
h_count %d
`, start, 5000+n, n, n/2, n, n)
}

// Counts between two looks are those of one process, from the earlier look to
// the later one, or there is an error.
func TestMismatch(t *testing.T) {
	noStart := func(text string) string { return strings.ReplaceAll(text, "process_start_time_seconds", "y") }
	cpu := func(text, seconds string) string {
		return text + "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total " + seconds + "\n"
	}
	for _, c := range []struct{ name, before, after, want string }{
		{"a window", page(1000, 10), page(1000, 90), ""},
		{"swapped", page(1000, 90), page(1000, 10), "counters fall while the process is the same, h, x: the looks are swapped"},
		{"the same page", page(1000, 10), page(1000, 10), "both looks are the same page"},
		{"the same page, saved on Windows", page(1000, 10), strings.ReplaceAll(page(1000, 10), "\n", "\r\n"), "both looks are the same page"},
		{"a restart", page(1000, 90), page(6000, 10), ""},
		{"a restart, swapped", page(6000, 10), page(1000, 90), "began before that of the earlier one, at 1970-01-01 00:16:40 and at 1970-01-01 01:40:00: the looks are swapped"},
		{"another process, which was there before", page(1000, 10), page(3000, 90), "the looks are at two processes: that of the later one began at 1970-01-01 00:50:00"},
		{"another process, older", page(3000, 10), page(1000, 90), "or at two processes"},
		{"a clock that was set", page(1000, 10), page(999, 90), ""},
		{"a clock that was set, swapped", page(1000, 90), page(999, 10), "swapped"},
		{"no start is told", noStart(page(1000, 90)), noStart(page(1000, 10)), ""},
		// An apiserver that was told to forget its requests is still the same.
		{"counts that were set back", cpu(page(1000, 90), "1"), cpu(page(1000, 10), "2"), ""},
		{"more fell than grew, by the processor swapped", cpu(page(1000, 10), "2"), cpu(page(1000, 90), "1"), "counters fall while the process is the same, process_cpu_seconds_total: the looks are swapped"},
	} {
		err := between(t, c.before, c.after).Mismatch()
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Real looks are a window one way round, and not the other.
func TestMismatchOfRealLooks(t *testing.T) {
	for _, name := range []string{"apiserver", "etcd"} {
		before, after := saved(t, name+"-before.txt", noon), saved(t, name+"-after.txt", noon)
		if err := (&Delta{Before: before, After: after}).Mismatch(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := (&Delta{Before: after, After: before}).Mismatch(); err == nil || !strings.Contains(err.Error(), "swapped") {
			t.Errorf("%s, swapped: %v", name, err)
		}
	}
}

func TestSameProcess(t *testing.T) {
	mixed := strings.Replace(page(1000, 20), `x{code="500"} 10`, `x{code="500"} 1`, 1)
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"one page", page(1000, 10), page(1000, 10), true},
		{"one page that tells no start", "x 1\n", "x 1\n", true},
		{"one process, a moment later", page(1000, 10), page(1000, 11), true},
		{"one process, a moment before", page(1000, 11), page(1000, 10), true},
		{"two", page(1000, 10), page(1001, 11), false},
		{"two that were started together", page(1000, 10), mixed, false},
		{"no start is told", "x 1\n", "x 2\n", false},
	} {
		if got := SameProcess(read(t, c.a, noon), read(t, c.b, noon)); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
