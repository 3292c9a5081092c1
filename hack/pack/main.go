// Command pack writes the tables of package target as the one archive that the
// program embeds; the tables themselves stay in the repository to be read and
// compared.
//
//	go run ./hack/pack internal/target/data internal/target/data.zip
package main

import (
	"fmt"
	"os"

	"github.com/kubeseams/seams/internal/target"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack DIR ARCHIVE")
		os.Exit(2)
	}
	packed, err := target.Pack(os.DirFS(os.Args[1]))
	if err == nil {
		err = os.WriteFile(os.Args[2], packed, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(2)
	}
}
