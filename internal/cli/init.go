package cli

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/applier"
)

// scaffolds are the workflows that init -example writes, one folder each.
//
//go:embed scaffold
var scaffolds embed.FS

func (a *app) initCommand() *cobra.Command {
	var r redisFlag
	example := ""
	cmd := &cobra.Command{
		Use: "init [DIR]", Short: "Prepare a directory, and check that its store and keys work",
		Long: fmt.Sprintf(`Prepares the directory of a workflow: keeps the embedded store's folder out of Git,
and checks that the store answers and that the key for signing jobs is there. No
other command needs it.

-example writes a small workflow to begin with: %s.`, strings.Join(exampleNames(), ", ")),
		Example: `waybill init
waybill init -example hello my-workflow`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fail("Too many arguments", "init takes one directory, and got %q.", args)
			}
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if example != "" {
				if err := a.scaffold(example, dir); err != nil {
					return err
				}
			}
			return a.initialise(cmd.Context(), dir, r)
		},
	}
	r.flags(cmd)
	cmd.Flags().StringVar(&example, "example", "", "Write the example `NAME` into the directory first.")
	return cmd
}

func (a *app) initialise(ctx context.Context, dir string, r redisFlag) error {
	out, ink := a.p.Stdout, a.ink(a.p.Stdout)
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return fail("No such directory", "%s is no directory. -example makes it, with a workflow in it.", dir)
	}
	names, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*.hcl*"))
	if len(names) == 0 {
		fmt.Fprintf(out, "The directory %s has no workflow yet. Write its first job into main.hcl, or start from an example:\n\n  waybill init -example hello\n", dir)
		return nil
	}
	w, err := a.load([]string{dir}, &variables{}, settingsOnly, nil)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, r, w, serving)
	if err != nil {
		return err
	}
	defer s.close() //nolint:errcheck // the store's own errors came with the command
	fmt.Fprintln(out, s.line())
	state, err := applier.ReadState(ctx, s.client, s.workflow)
	if err != nil {
		return err
	}
	k, from, err := a.ring(true)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nStore   answers; %s recorded\nKey     %s, from %s\n", recorded(len(state.Records)), k.ID(), from)
	fmt.Fprintf(out, "\n%s\n", ink.Green(ink.Bold("Waybill has been successfully initialized!")))
	if dirHint := s.elsewhere(); !a.automated() {
		fmt.Fprintf(out, "\nNext:\n\n  waybill plan%s\n  waybill apply%s\n", dirHint, dirHint)
	}
	return nil
}

func recorded(n int) string {
	switch n {
	case 0:
		return "no job is"
	case 1:
		return "1 job is"
	}
	return fmt.Sprintf("%d jobs are", n)
}

// ignoreStore keeps the embedded store out of Git.
func ignoreStore(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("# The embedded store of this machine.\n*\n")
	return errors.Join(err, f.Close())
}

func exampleNames() []string {
	var names []string
	entries, _ := scaffolds.ReadDir("scaffold") // embedded: cannot fail
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// scaffold writes an example into a directory that has no workflow yet.
func (a *app) scaffold(name, dir string) error {
	names := exampleNames()
	if !slices.Contains(names, name) {
		hint := ""
		if n := nearest(name, names); n != "" {
			hint = fmt.Sprintf(" Did you mean %q?", n)
		}
		return fail("No such example", "There is no example %q; there are %s.%s", name, strings.Join(names, ", "), hint)
	}
	if have, _ := filepath.Glob(filepath.Join(escapeGlob(dir), "*.hcl*")); len(have) > 0 {
		return fail("Directory is not empty", "%s has a workflow already (%s). Nothing was written.", dir, filepath.Base(have[0]))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write the example: %w", err)
	}
	root := "scaffold/" + name
	return fs.WalkDir(scaffolds, root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := scaffolds.ReadFile(path)
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(path, root+"/")))
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(path, ".sh") {
			mode = 0o755
		}
		f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return fail("Cannot write the example", "%v.", err)
		}
		_, err = f.Write(data)
		if err := errors.Join(err, f.Close()); err != nil {
			return fail("Cannot write the example", "%v.", err)
		}
		fmt.Fprintf(a.p.Stdout, "Wrote %s\n", target)
		return nil
	})
}

// escapeGlob makes a path mean itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer("[", `\[`, "*", `\*`, "?", `\?`, `\`, `\\`).Replace(path)
}
