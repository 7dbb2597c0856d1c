package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/internal/controller"
	"github.com/waybill-dev/waybill/internal/gitsource"
)

// gitFlags are the options of a controller that follows a branch instead of directories.
type gitFlags struct{ remote, branch, path string }

func (g *gitFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.remote, "git", "", "Follow a branch of the Git repository `REMOTE`, a URL or a path, instead of directories. For https, credentials come "+
		"from WAYBILL_GIT_TOKEN and WAYBILL_GIT_USERNAME; for ssh, from the agent and known_hosts.")
	cmd.Flags().StringVar(&g.branch, "branch", "", "With -git: the `BRANCH` to follow. Default: the one that the repository's HEAD names.")
	cmd.Flags().StringVar(&g.path, "path", "", "With -git: the workflow's `DIR` in the repository. Default: its root.")
}

// check refuses options that say two things.
func (g *gitFlags) check(args []string) error {
	switch {
	case g.remote == "" && (g.branch != "" || g.path != ""):
		return fail("Wrong arguments", "-branch and -path say what to follow of the repository that -git names, and there is no -git.")
	case g.remote != "" && len(args) > 0:
		return fail("Wrong arguments", "-git follows a repository, so no directory is named here; -path names the workflow's directory in the repository, as in -path=%s.", args[0])
	}
	return nil
}

// source opens what is followed.
func (r *reconciling) source() (controller.Source, error) {
	s, err := gitsource.New(gitsource.Options{
		Remote: r.git.remote, Branch: r.git.branch, Path: r.git.path, Getenv: r.a.getenv,
		Log: func(text string) { r.report.observe(controller.Event{Kind: controller.KindWarning, Text: text}) },
	})
	if err != nil {
		return nil, fail("Cannot follow the repository", "%s.", inLine(err))
	}
	return s, nil
}

// outlasts refuses the embedded store for a workflow whose directory goes with the next commit.
func (r *reconciling) outlasts(w *config.Workflow) error {
	if r.git.remote == "" || w.Redis != "" || r.a.redisNamed(r.redis) {
		return nil
	}
	return fail("No Redis", "The files of a branch are kept only until its next commit, so there is no place for an embedded store beside them. "+
		"Name a Redis: with -redis=URL, in WAYBILL_REDIS, or in the redis block of workflow %q.", w.Name)
}

// consentInGit consents to the plan of the workflow that the branch shows now.
func (r *reconciling) consentInGit(ctx context.Context) (err error) {
	s, err := r.source()
	if err != nil {
		return err
	}
	defer func() {
		if closing := s.Close(); closing != nil && err == nil {
			err = fmt.Errorf("remove the copy of the repository: %w", closing)
		}
	}()
	_, dir, err := s.Revision(ctx)
	if err != nil {
		return fail("Cannot follow the repository", "%s.", inLine(err))
	}
	return r.consent(ctx, []string{dir})
}
