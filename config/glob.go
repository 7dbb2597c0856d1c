package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// maxMatches bounds the result of fileset, and how many entries it looks at is bounded with it.
const maxMatches = 100_000

// glob is a pattern for paths: * and ? within a name, ** over directories, [abc] and [a-z], {a,b} for alternatives.
type glob struct {
	alternatives [][]string // each a pattern cut at slashes
}

func parseGlob(pattern string) (glob, error) {
	var g glob
	patterns, err := expandBraces(pattern)
	if err != nil {
		return g, err
	}
	for _, p := range patterns {
		parts := strings.Split(path.Clean(p), "/")
		for _, part := range parts {
			if _, err := path.Match(part, ""); err != nil {
				return g, fmt.Errorf("the pattern %q is not well formed", clip(pattern))
			}
			if part == ".." {
				return g, errors.New("a pattern cannot leave the directory it is for; put the .. into the first argument")
			}
		}
		if parts[0] == "" {
			return g, errors.New("a pattern is relative to the directory in the first argument and does not begin with a slash")
		}
		g.alternatives = append(g.alternatives, parts)
	}
	return g, nil
}

// expandBraces makes one pattern for each way through the {a,b} of a pattern.
func expandBraces(pattern string) ([]string, error) {
	done, todo := []string{}, []string{pattern}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		end := strings.IndexByte(p, '}')
		if end < 0 {
			if strings.Contains(p, "{") {
				return nil, fmt.Errorf("the pattern %q has a brace that is not closed", clip(pattern))
			}
			done = append(done, p)
			continue
		}
		begin := strings.LastIndexByte(p[:end], '{')
		if begin < 0 {
			return nil, fmt.Errorf("the pattern %q has a brace that is not opened", clip(pattern))
		}
		for alt := range strings.SplitSeq(p[begin+1:end], ",") {
			todo = append(todo, p[:begin]+alt+p[end+1:])
		}
		if len(todo)+len(done) > 1000 {
			return nil, fmt.Errorf("the pattern %q has more than 1000 alternatives", clip(pattern))
		}
	}
	return done, nil
}

// files lists the regular files of a directory that match, by their path from there, sorted. The embedded store's
// directory is no part of the workflow.
func (g glob) files(root fs.FS) ([]string, error) {
	var names []string
	looked := 0
	err := fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if looked++; looked > 10*maxMatches || len(names) > maxMatches {
			return fmt.Errorf("there are too many files: at most %d can match", maxMatches)
		}
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case e.IsDir() && (e.Name() == ".waybill" || !g.enters(name)):
			return fs.SkipDir
		case e.IsDir() || !g.matches(name):
			return nil
		}
		if e.Type()&fs.ModeSymlink != 0 {
			if info, err := fs.Stat(root, name); err != nil || !info.Mode().IsRegular() {
				return nil
			}
		} else if !e.Type().IsRegular() {
			return nil
		}
		names = append(names, name)
		return nil
	})
	return sortedUnique(names), err
}

func (g glob) matches(name string) bool {
	for _, alt := range g.alternatives {
		if matchParts(alt, strings.Split(name, "/")) {
			return true
		}
	}
	return false
}

// enters tells whether a directory can hold matches.
func (g glob) enters(dir string) bool {
	parts := strings.Split(dir, "/")
	for _, alt := range g.alternatives {
		if couldEnter(alt, parts) {
			return true
		}
	}
	return false
}

func couldEnter(pattern, dir []string) bool {
	for i, part := range dir {
		if i >= len(pattern) {
			return false
		}
		if pattern[i] == "**" {
			return true
		}
		if ok, _ := path.Match(pattern[i], part); !ok {
			return false
		}
	}
	return len(pattern) > len(dir)
}

// matchParts matches names against patterns; ** matches any number of names. It remembers the last ** only, which
// is enough and keeps it from trying every split.
func matchParts(pattern, parts []string) bool {
	p, n := 0, 0
	star, starAt := -1, 0
	for n < len(parts) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, starAt = p, n
			p++
			continue
		case p < len(pattern):
			if ok, _ := path.Match(pattern[p], parts[n]); ok {
				p++
				n++
				continue
			}
		}
		if star < 0 {
			return false
		}
		starAt++
		p, n = star+1, starAt
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}
