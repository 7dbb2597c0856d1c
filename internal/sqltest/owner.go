package sqltest

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/waybill-dev/waybill/internal/testserver"
)

// owner is who a server runs as: both servers refuse to run as root.
type owner struct{ uid, gid uint32 }

// serverOwner is the user nobody where the tests run as root, and nil, the tests' own user, elsewhere.
func serverOwner() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("database servers do not run as root, and there is no other user to run them as: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user nobody: %w", err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("user nobody: %w", err)
	}
	return &owner{uid: uint32(uid), gid: uint32(gid)}, nil
}

// tempDir makes a directory of the owner's.
func tempDir(o *owner) (string, error) {
	dir, err := testserver.TempDir("wbs")
	if err == nil && o != nil {
		if err = os.Chown(dir, int(o.uid), int(o.gid)); err != nil {
			_ = os.RemoveAll(dir)
		}
	}
	return dir, err
}
