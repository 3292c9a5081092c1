package profile

import (
	"fmt"
	"strings"
)

// suggestField proposes the known field nearest to an unknown one, or lists
// them all.
func suggestField(name string, s *shape) string {
	known := make([]string, len(s.fields))
	for i, f := range s.fields {
		known[i] = f.name
	}
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known here: " + strings.Join(known, ", ")
}

// nearest gives the candidate with the least edit distance to the word, if it
// is near enough to be meant; the first of equals.
func nearest(word string, candidates []string) string {
	if len(word) > 64 {
		return ""
	}
	best, distance := "", 1+max(len(word), 2)/3
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(word), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	if best != "" {
		return best
	}
	// "leaseSeconds" means leaseDurationSeconds: all its words are there.
	for _, c := range candidates {
		if len(word) >= 4 && subsequence(strings.ToLower(word), strings.ToLower(c)) {
			return c
		}
	}
	return ""
}

// editDistance counts insertions, deletions, substitutions and swaps of
// neighbours that turn one word into the other.
func editDistance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

// subsequence reports whether b contains a's characters in order.
func subsequence(a, b string) bool {
	for i := range len(b) {
		if a == "" {
			break
		}
		if a[0] == b[i] {
			a = a[1:]
		}
	}
	return a == ""
}
