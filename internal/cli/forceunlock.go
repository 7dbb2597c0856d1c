package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
)

func (a *app) forceUnlockCommand() *cobra.Command {
	var r redisFlag
	force := false
	cmd := &cobra.Command{
		Use: "force-unlock TOKEN [DIR | FILES]", Short: "Remove the lock that a lost apply has left",
		Long: `Removes the lock of a workflow. TOKEN is what the message about the lock names, so
that no other lock is removed by mistake.

A lock is gone by itself five seconds after its holder's last sign of life. This
command is for a holder that lives and is not to go on: it will be refused from
then on.`,
		Example: `waybill force-unlock 0f0b2d9c-8f3e-4d3c-9a53-1a8d2f7c9b11`,
		RunE: func(cmd *cobra.Command, args []string) error {
			token, paths, err := lockToken(args)
			if err != nil {
				return err
			}
			w, err := a.load(paths, &variables{}, settingsOnly, nil)
			if err != nil {
				return err
			}
			s, err := a.open(cmd.Context(), r, w, serving)
			if err != nil {
				return err
			}
			defer s.close() //nolint:errcheck // the store's own errors came with the command
			return a.forceUnlock(cmd.Context(), s, w.MovedFrom, token, force)
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "Do not ask.")
	return cmd
}

func lockToken(args []string) (token string, paths []string, err error) {
	for _, arg := range args {
		if token == "" && uuid.Validate(arg) == nil {
			token = arg
			continue
		}
		paths = append(paths, arg)
	}
	if token == "" {
		return "", nil, fail("Wrong arguments", "force-unlock takes the token of the lock, a UUID that the message about the lock names.")
	}
	return token, paths, nil
}

// forceUnlock removes the lock of the workflow, or that of its former name, which an apply takes too that carries its state over.
func (a *app) forceUnlock(ctx context.Context, s *store, former, token string, force bool) error {
	name := s.workflow
	holder, err := applier.ReadLock(ctx, s.client, name)
	if err != nil {
		return err
	}
	if former != "" && (holder == nil || holder.Token != token) {
		other, err := applier.ReadLock(ctx, s.client, former)
		if err != nil {
			return err
		}
		if other != nil && (other.Token == token || holder == nil) {
			name, holder = former, other
		}
	}
	if holder == nil {
		return fail("There is no lock", "Workflow %q is not locked. Nothing was changed.", name)
	}
	if holder.Token != token {
		return fail("Another lock", "Workflow %q is locked under another token: by %s, for %s since %s, under %s. Nothing was changed.",
			name, holder.Who, holder.Operation, holder.Since.UTC().Format(time.RFC3339), holder.Token)
	}
	if !force {
		ok, err := a.prompt(ctx, "-force", "Do you really want to force-unlock?", fmt.Sprintf(
			"Waybill will remove the lock of workflow %q, held by %s for %s.\nOnly 'yes' will be accepted to confirm.", name, holder.Who, holder.Operation))
		if err != nil {
			return err
		}
		if !ok {
			fmt.Fprintln(a.p.Stdout, "force-unlock cancelled.")
			return exit(exitError)
		}
	}
	if err := applier.ForceUnlock(ctx, s.client, name, token); err != nil {
		return err
	}
	fmt.Fprintf(a.p.Stdout, "The lock of workflow %q is removed.\n", name)
	return nil
}
