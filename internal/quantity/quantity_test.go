package quantity

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWriting(t *testing.T) {
	const gib = 1 << 30
	for got, want := range map[string]string{
		Count(0):                  "0",
		Count(0.014):              "0.01",
		Count(-0.001):             "0",
		Count(0.5):                "0.5",
		Count(1.27):               "1.27",
		Count(9.996):              "10",
		Count(1507.3):             "1,507",
		Count(-1234567):           "-1,234,567",
		Exact(1.05):               "1.05",
		Exact(5000):               "5,000",
		Exact(0.26):               "0.26",
		Ratio(0.844):              "0.84",
		Ratio(99.999):             "100",
		Ratio(1025.2):             "1,025",
		Bytes(512):                "512 B",
		Bytes(32 * gib):           "32 GiB",
		Bytes(1023.97 * gib):      "1 TiB",
		Bytes(2.46 * gib):         "2.5 GiB",
		Bytes(128 * gib):          "128 GiB",
		Bytes(-2710.5 * gib):      "-2.6 TiB",
		Decimal(104_770_069):      "105 MB",
		Decimal(2e6):              "2 MB",
		Decimal(1.5e9):            "1.5 GB",
		With(1, "nodes"):          "1 node",
		With(0, "apiservers"):     "0 apiservers",
		With(15000, "nodes"):      "15,000 nodes",
		With(1, "processes"):      "1 process",
		With(1, "watches"):        "1 watch",
		With(1, "writes/s"):       "1 write/s",
		With(2, "writes/s"):       "2 writes/s",
		With(1, "s"):              "1 s",
		With(1.004, "apiservers"): "1 apiserver",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// No size is written with a number that the next unit is for.
func TestBytesUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Float64Range(0, 1e15).Draw(t, "v")
		for _, text := range []string{Bytes(v), Decimal(v)} {
			number, _, _ := strings.Cut(text, " ")
			if len(strings.TrimSuffix(number, ".0")) > 4 || strings.HasPrefix(text, "1024") || strings.HasPrefix(text, "1000 ") {
				t.Fatalf("%v is written %q", v, text)
			}
		}
	})
}
