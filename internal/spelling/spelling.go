// Package spelling tells how far apart two names are. It stands beside the
// flow: whoever judges names uses it to suggest the one that was meant.
package spelling

// Distance counts the bytes to add, drop or change to make b of a
// (Levenshtein's). It is cut short, and is limit, once the lengths alone show
// that it cannot be below limit.
func Distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = min(diagonal, row[j], row[j+1]) + 1
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
