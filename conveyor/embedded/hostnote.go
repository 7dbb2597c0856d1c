package embedded

import (
	"os"
	"strconv"
	"strings"
)

// hostNote is what a host writes into the lock file, for others to find it and for messages to name it. It may be
// stale: only the lock itself says whether there is a host.
type hostNote struct {
	pid    int
	socket string
}

func writeHostNote(p paths) {
	// Nothing depends on it, so a full disk is no reason not to serve.
	_ = os.WriteFile(p.lock, []byte(strconv.Itoa(os.Getpid())+"\n"+p.socket+"\n"), 0o600)
}

func readHostNote(p paths) hostNote {
	b, err := os.ReadFile(p.lock)
	if err != nil {
		return hostNote{}
	}
	pid, rest, _ := strings.Cut(string(b), "\n")
	socket, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(pid)
	if err != nil {
		return hostNote{}
	}
	return hostNote{pid: n, socket: socket}
}
