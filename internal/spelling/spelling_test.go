package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 9, 0},
		{"events", "events", 9, 0},
		{"event", "events", 9, 1},
		{"evnets", "events", 9, 2},
		{"leases", "releases", 9, 2},
		{"kitten", "sitting", 9, 3},
		{"", "abc", 9, 3},
		{"a", "abcdef", 5, 5}, // cut short: five letters are missing
		{"abcdef", "a", 3, 3},
	} {
		if got := Distance(c.a, c.b, c.limit); got != c.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
	}
}
