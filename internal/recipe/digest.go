package recipe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// digest identifies the chosen rungs and what they come to. JSON sorts the keys
// of maps, so that equal settings have equal bytes.
func digest(rungs []string, s *Settings) (string, error) {
	data, err := json.Marshal(struct {
		Rungs    []string  `json:"rungs"`
		Settings *Settings `json:"settings"`
	}{rungs, s})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// shortHash tells names apart that had to be cut.
func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}
