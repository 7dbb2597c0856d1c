package gitsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	gitconfig "github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/waybill-dev/waybill/internal/controller"
)

// Options say what a Source follows. Remote is required.
type Options struct {
	Remote string // URL or path of a repository
	Branch string // default: the one that the remote's HEAD names
	Path   string // of the workflow's directory in the repository, with slashes; default: its root
	// Cache is where copies are kept while the source is open, each in a directory of its own. Default: waybill/git in the user's
	// cache directory.
	Cache  string
	Getenv func(string) string // for credentials; default os.Getenv
	// Log gets what people should know and what is no error; nil for nobody.
	Log func(text string)
}

func (o Options) withDefaults() (Options, error) {
	if o.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return o, fmt.Errorf("there is no directory for copies of repositories: %w", err)
		}
		o.Cache = filepath.Join(dir, "waybill", "git")
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Path == "" {
		o.Path = "."
	}
	return o, nil
}

func (o Options) validate() error {
	var problems []error
	if o.Remote == "" {
		problems = append(problems, errors.New("the remote is missing"))
	}
	if !filepath.IsLocal(filepath.FromSlash(o.Path)) {
		problems = append(problems, fmt.Errorf("%q is no path in a repository: it begins at its root, and stays in it", o.Path))
	}
	return errors.Join(problems...)
}

const (
	askWithin   = 30 * time.Second // for the tip of a branch
	fetchWithin = 10 * time.Minute
	// maxFetches is how many fetches a copy takes before it is made anew: each adds a pack to it.
	maxFetches = 50
	// maxAncestors bounds the search for the former tip among the new one's ancestors.
	maxAncestors = 10_000
)

// Source follows a branch of a remote. What it has of it is a shallow copy without a work tree, and the files of one commit beside it.
type Source struct {
	o      Options
	remote *remote
	desk   *desk

	repo    *git.Repository // nil before the first fetch, and after one that failed
	fetches int             // since repo was made
	limit   int             // maxFetches; tests have fewer

	current *checkedOut // nil before the first
	refused plumbing.Hash
	why     error // why refused was
}

// checkedOut is a commit whose files are there.
type checkedOut struct {
	hash plumbing.Hash
	rev  controller.Revision
	root string
	dir  string // of the workflow
}

var _ controller.Source = (*Source)(nil)

// New makes a Source. Close removes what it has fetched.
func New(o Options) (*Source, error) {
	o, err := o.withDefaults()
	if err := errors.Join(err, o.validate()); err != nil {
		return nil, err
	}
	r, err := newRemote(o.Remote, o.Branch, o.Getenv)
	if err != nil {
		return nil, err
	}
	d, err := newDesk(o.Cache)
	if err != nil {
		return nil, err
	}
	return &Source{o: o, remote: r, desk: d, limit: maxFetches}, nil
}

// Changed is nil: a remote does not tell.
func (s *Source) Changed() <-chan struct{} { return nil }

// Close removes what was fetched.
func (s *Source) Close() error { return s.desk.close() }

// Revision asks for the newest commit of the branch, and fetches it where it is another one. What is wrong with a commit is told without
// fetching it again.
func (s *Source) Revision(ctx context.Context) (controller.Revision, string, error) {
	asking, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	tip, branch, err := s.remote.tip(asking)
	if err != nil {
		return controller.Revision{}, "", err
	}
	if s.current == nil || s.current.hash != tip {
		if s.refused == tip {
			return controller.Revision{}, "", s.why
		}
		if err := s.move(ctx, tip, branch); err != nil {
			return controller.Revision{}, "", err
		}
	}
	return s.current.rev, s.current.dir, nil
}

// move makes a commit the current one.
func (s *Source) move(ctx context.Context, tip plumbing.Hash, branch plumbing.ReferenceName) error {
	fetching, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	commit, err := s.fetch(fetching, tip, branch)
	if err != nil {
		return err
	}
	next := &checkedOut{hash: commit.Hash, root: s.desk.path(commit.Hash.String())}
	if next.dir, err = s.checkout(commit, next.root); err != nil {
		_ = os.RemoveAll(next.root) // the desk removes what is left
		s.refused, s.why = tip, err
		return err
	}
	next.rev = controller.Revision{ID: commit.Hash.String(), Author: commit.Author.String(), Message: commit.Message, Time: commit.Committer.When}
	if prior := s.current; prior != nil {
		if known, descends := s.descends(commit, prior.hash); known && !descends {
			s.o.Log(fmt.Sprintf("branch %s of %s was rewritten: commit %s is no ancestor of %s, which is followed from now on", branch.Short(), s.remote.name,
				prior.hash.String()[:10], commit.Hash.String()[:10]))
		}
		_ = os.RemoveAll(prior.root) // likewise
	}
	s.current, s.refused, s.why = next, plumbing.ZeroHash, nil
	if s.fetches >= s.limit {
		s.repo = nil
	}
	return nil
}

// checkout writes the files of a commit, and finds the workflow's directory among them.
func (s *Source) checkout(commit *object.Commit, root string) (string, error) {
	submodules, err := checkout(commit, root)
	if err != nil {
		return "", err
	}
	short, in := commit.Hash.String()[:10], filepath.ToSlash(filepath.Clean(filepath.FromSlash(s.o.Path)))
	for _, name := range submodules {
		if in == "." || in == name || strings.HasPrefix(name, in+"/") || strings.HasPrefix(in, name+"/") {
			return "", fmt.Errorf("commit %s has the submodule %s, and submodules are not followed: put the files of the workflow into the repository itself, or follow that of the submodule", short, name)
		}
		s.o.Log(fmt.Sprintf("commit %s has the submodule %s, which is left out", short, name))
	}
	dir := filepath.Join(root, filepath.FromSlash(in))
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", fmt.Errorf("commit %s of %s has no directory %s", short, s.remote.name, in)
	}
	return dir, nil
}

// fetch brings a commit here: what is new, or, where that fails, all of it.
func (s *Source) fetch(ctx context.Context, tip plumbing.Hash, branch plumbing.ReferenceName) (*object.Commit, error) {
	if s.repo != nil {
		err := s.repo.FetchContext(ctx, &git.FetchOptions{
			RefSpecs: []gitconfig.RefSpec{gitconfig.RefSpec("+" + branch.String() + ":" + branch.String())}, Auth: s.remote.auth, Tags: git.NoTags, Force: true,
		})
		if err == nil || errors.Is(err, git.NoErrAlreadyUpToDate) {
			s.fetches++
			if commit, err := s.repo.CommitObject(tip); err == nil {
				return commit, nil
			}
		}
		if ctx.Err() != nil {
			return nil, s.remote.explain(ctx.Err())
		}
		s.repo = nil
	}
	bare := s.desk.fresh()
	repo, err := git.PlainCloneContext(ctx, bare, true, &git.CloneOptions{
		URL: s.remote.url, Auth: s.remote.auth, ReferenceName: branch, SingleBranch: true, Depth: 1, Tags: git.NoTags,
	})
	if err != nil {
		_ = os.RemoveAll(bare) // the desk removes what is left
		return nil, s.remote.explain(err)
	}
	commit, err := repo.CommitObject(tip)
	if err != nil { // the branch has moved on since it was asked for
		head, headErr := repo.Head()
		if headErr != nil {
			return nil, s.remote.explain(headErr)
		}
		if commit, err = repo.CommitObject(head.Hash()); err != nil {
			return nil, s.remote.explain(err)
		}
	}
	s.repo, s.fetches = repo, 0
	s.desk.keep(bare)
	return commit, nil
}

// descends tells whether a commit has another one among its ancestors; known is false where the copy does not reach back so far.
func (s *Source) descends(commit *object.Commit, other plumbing.Hash) (known, descends bool) {
	if _, err := s.repo.CommitObject(other); err != nil {
		return false, false
	}
	seen, todo := map[plumbing.Hash]bool{commit.Hash: true}, []*object.Commit{commit}
	for len(todo) > 0 {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if c.Hash == other {
			return true, true
		}
		for _, h := range c.ParentHashes {
			if seen[h] {
				continue
			}
			if seen[h] = true; len(seen) > maxAncestors {
				return false, false
			}
			if parent, err := s.repo.CommitObject(h); err == nil { // else it is where the copy ends
				todo = append(todo, parent)
			}
		}
	}
	return true, false
}
