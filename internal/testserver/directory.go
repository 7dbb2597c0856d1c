package testserver

import (
	"fmt"
	"os"
)

// TempDir makes a directory whose sockets stay below the 104 bytes that a unix socket path may have. Whoever asks removes it.
func TempDir(prefix string) (string, error) {
	base := os.TempDir()
	if len(base) > 60 {
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, prefix)
	if err != nil {
		return "", fmt.Errorf("make a directory for a server: %w", err)
	}
	return dir, nil
}
