package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// paths are the files of a store.
type paths struct {
	dir     string // absolute, symbolic links resolved, so that every process finds the same socket
	journal string
	lock    string
	socket  string // in dir, or in a directory of the user's when the name would be too long
}

// maxSocketPath is what fits into a socket address on every system: 104 bytes on macOS and the BSDs with the
// closing zero, 108 on Linux.
const maxSocketPath = 103

// locate names the files of the store in dir, which need not exist.
func locate(dir string) (paths, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return paths{}, fmt.Errorf("find the store's directory %s: %w", dir, err)
	}
	p := paths{dir: resolve(abs)}
	p.journal = filepath.Join(p.dir, "journal")
	p.lock = filepath.Join(p.dir, "lock")
	p.socket = filepath.Join(p.dir, "socket")
	if len(p.socket) > maxSocketPath {
		sum := sha256.Sum256([]byte(p.dir))
		p.socket = filepath.Join(runtimeDir(), hex.EncodeToString(sum[:12]))
	}
	return p, nil
}

// resolve follows symbolic links as far as the path exists.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolve(parent), filepath.Base(path))
}

// runtimeDir is where the sockets of stores deep in the file system are.
func runtimeDir() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && len(dir) < 60 {
		return filepath.Join(dir, "waybill")
	}
	base := os.TempDir()
	if len(base) > 60 {
		base = "/tmp"
	}
	return filepath.Join(base, fmt.Sprintf("waybill-%d", os.Getuid()))
}

// makeDirs makes the store's directory, and the one of its socket, private to the user.
func (p paths) makeDirs() error {
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return fmt.Errorf("make the store's directory: %w", err)
	}
	if err := private(p.dir, false); err != nil {
		return err
	}
	socketDir := filepath.Dir(p.socket)
	if socketDir == p.dir {
		return nil
	}
	if err := os.Mkdir(socketDir, 0o700); err != nil && !os.IsExist(err) {
		return fmt.Errorf("make a directory for the store's socket: %w", err)
	}
	return private(socketDir, true)
}

// private takes a directory's permissions from everybody but its owner: whoever reaches the socket can do
// anything to the store. A directory in a place where anybody may have made it must be the user's own.
func private(dir string, own bool) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at the store's directory: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("the store needs a directory at %s, and there is something else", dir)
	}
	if own && !ownedByUser(info) {
		return fmt.Errorf("the directory %s belongs to another user, who could read and change the store", dir)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("make %s private: %w", dir, err)
	}
	return nil
}
