package gitsource

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/waybill-dev/waybill/planner"
)

// Describe tells which commit the files of a workflow are of. Where one of them differs from it, its revision says so: a tracked file
// that was changed, or one of the configuration that is not tracked. Outside of a work tree with a commit it is the zero Source: nothing
// depends on it, so what cannot be read counts as nothing.
func Describe(dir string, files []string) planner.Source {
	repo, err := git.PlainOpenWithOptions(dir, &git.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if err != nil {
		return planner.Source{}
	}
	head, err := repo.Head()
	if err != nil {
		return planner.Source{}
	}
	commit, err := repo.CommitObject(head.Hash())
	if err != nil {
		return planner.Source{}
	}
	tree, err := repo.Worktree()
	if err != nil {
		return planner.Source{}
	}
	s := sourceOf(commit)
	if differs(commit, tree.Filesystem.Root(), files) {
		s.Revision += planner.DirtySuffix
	}
	return s
}

func sourceOf(c *object.Commit) planner.Source {
	return planner.Source{Revision: c.Hash.String(), Author: c.Author.String(), Message: c.Message, Time: c.Committer.When}.Clean()
}

// differs tells whether a file below the root of the work tree is not what the commit has.
func differs(commit *object.Commit, root string, files []string) bool {
	committed, err := commit.Tree()
	if err != nil {
		return true
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return true
	}
	for _, name := range files {
		abs, err := filepath.Abs(name)
		if err != nil {
			return true
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
			abs = filepath.Join(dir, filepath.Base(abs))
		}
		rel, err := filepath.Rel(root, abs)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue // it belongs to something else
		}
		entry, err := committed.FindEntry(filepath.ToSlash(rel))
		known := err == nil && entry.Mode.IsFile()
		info, err := os.Lstat(abs)
		switch {
		case err != nil || info.IsDir():
			if known {
				return true
			}
		case !known:
			if strings.HasSuffix(rel, ".hcl") || strings.HasSuffix(rel, ".hcl.json") {
				return true
			}
		default:
			if sum, ok := blobHash(abs, info); !ok || sum != entry.Hash {
				return true
			}
		}
	}
	return false
}

// blobHash is the name that Git gives to the content of a file, or to where a symbolic link leads.
func blobHash(name string, info os.FileInfo) (plumbing.Hash, bool) {
	if info.Mode()&os.ModeSymlink != 0 {
		to, err := os.Readlink(name)
		return plumbing.ComputeHash(plumbing.BlobObject, []byte(filepath.ToSlash(to))), err == nil
	}
	if !info.Mode().IsRegular() {
		return plumbing.ZeroHash, false
	}
	f, err := os.Open(name)
	if err != nil {
		return plumbing.ZeroHash, false
	}
	defer f.Close() //nolint:errcheck // only read
	h := plumbing.NewHasher(plumbing.BlobObject, info.Size())
	if _, err := io.Copy(h, f); err != nil {
		return plumbing.ZeroHash, false
	}
	return h.Sum(), true
}
