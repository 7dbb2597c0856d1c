package gitsource

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	gitconfig "github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/memory"
)

// The variables that credentials for https come from. ssh takes those of the user's agent, and the hosts in known_hosts.
const (
	userVariable  = "WAYBILL_GIT_USERNAME" // default defaultUser
	tokenVariable = "WAYBILL_GIT_TOKEN"

	defaultUser = "git" // any name does where a token is a password
)

// remote is a repository somewhere, and one branch of it.
type remote struct {
	url    string // as given; it may hold a password
	name   string // for people
	branch string // "" for the one that its HEAD names
	auth   transport.AuthMethod
	secret []string // what no message may hold
}

func newRemote(url, branch string, getenv func(string) string) (*remote, error) {
	end, err := transport.NewEndpoint(url)
	if err != nil {
		return nil, fmt.Errorf("the remote is no address of a repository: %w", err)
	}
	shown := *end
	shown.Password = ""
	r := &remote{url: url, name: shown.String(), branch: branch}
	if end.Protocol == "file" {
		r.name = end.Path
	}
	token := getenv(tokenVariable)
	for _, s := range []string{token, end.Password} {
		if s != "" {
			r.secret = append(r.secret, s)
		}
	}
	switch end.Protocol {
	case "file":
		if _, err := exec.LookPath("git-upload-pack"); err != nil {
			if _, err := exec.LookPath("git"); err != nil {
				return nil, errors.New("a repository on this machine is read by the program git, which is not installed")
			}
		}
	case "https", "http":
		if token == "" {
			break
		}
		if end.Protocol == "http" && !loopback(end.Host) {
			return nil, fmt.Errorf("the token in %s is not sent to %s without encryption: use https", tokenVariable, end.Host)
		}
		user := getenv(userVariable)
		if user == "" {
			user = defaultUser
		}
		r.auth = &http.BasicAuth{Username: user, Password: token}
	case "ssh":
	default:
		return nil, fmt.Errorf("remotes are named by https, ssh and file addresses, and by paths; %s:// is none of these", end.Protocol)
	}
	if branch != "" {
		if err := plumbing.NewBranchReferenceName(branch).Validate(); err != nil {
			return nil, fmt.Errorf("%q is no name of a branch", branch)
		}
	}
	return r, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// tip asks for the newest commit of the branch, and for the branch's name in full.
func (r *remote) tip(ctx context.Context) (plumbing.Hash, plumbing.ReferenceName, error) {
	there := git.NewRemote(memory.NewStorage(), &gitconfig.RemoteConfig{Name: git.DefaultRemoteName, URLs: []string{r.url}})
	refs, err := there.ListContext(ctx, &git.ListOptions{Auth: r.auth})
	if err != nil {
		return plumbing.ZeroHash, "", r.explain(err)
	}
	want := plumbing.NewBranchReferenceName(r.branch)
	if r.branch == "" {
		if want, err = headOf(refs); err != nil {
			return plumbing.ZeroHash, "", fmt.Errorf("%s: %w", r.name, err)
		}
	}
	var names []string
	for _, ref := range refs {
		if ref.Name() == want {
			return ref.Hash(), want, nil
		}
		if ref.Name().IsBranch() {
			names = append(names, ref.Name().Short())
		}
	}
	const shown = 5
	slices.Sort(names)
	if len(names) > shown {
		names = append(names[:shown], "...")
	}
	if len(names) == 0 {
		return plumbing.ZeroHash, "", fmt.Errorf("%s has no branch %q, and no other one either", r.name, want.Short())
	}
	return plumbing.ZeroHash, "", fmt.Errorf("%s has no branch %q; it has %s", r.name, want.Short(), strings.Join(names, ", "))
}

// errDetached: this Git cannot read such a remote, also where a branch is named, unless its HEAD is at the end of one.
var errDetached = errors.New("its HEAD is detached: it names a commit and no branch. Check a branch out there, or follow a bare repository")

// headOf is the branch that a remote's HEAD names.
func headOf(refs []*plumbing.Reference) (plumbing.ReferenceName, error) {
	for _, ref := range refs {
		if ref.Name() != plumbing.HEAD {
			continue
		}
		if ref.Type() == plumbing.SymbolicReference {
			return ref.Target(), nil
		}
		break
	}
	return "", errDetached
}

// explain words what a remote answers, without secrets.
func (r *remote) explain(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer in time: %w", r.name, err)
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return fmt.Errorf("%s has no commit yet", r.name)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("%s is no repository, or these credentials do not see it", r.name)
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed), errors.Is(err, transport.ErrInvalidAuthMethod):
		return fmt.Errorf("%s refuses the credentials: for https set %s, and %s where the user matters; for ssh load the key into the agent", r.name, tokenVariable, userVariable)
	}
	text := err.Error()
	if strings.HasSuffix(text, plumbing.ErrReferenceNotFound.Error()) { // from reading what the remote advertises, where HEAD comes first
		return fmt.Errorf("%s: %w", r.name, errDetached)
	}
	for _, s := range r.secret {
		text = strings.ReplaceAll(text, s, "***")
	}
	return fmt.Errorf("%s cannot be read: %s", r.name, text)
}
