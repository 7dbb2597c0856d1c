package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
)

func (a *app) keysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "keys", Short: "Look at the keys that sign jobs and seal secrets, make and replace them",
		Long: `Commands and HTTP requests are signed with a key, and sensitive values are sealed and
compared under it: who can write to the Redis, and has no key, cannot make a worker
run anything. Whoever applies and the workers need the same one.

The first of several keys signs and seals. All of them verify and open what they
made, so a key is replaced without running anything again: put the new one first,
everywhere; sign what waits anew with "waybill apply -rekey"; take the old one out.

They come from WAYBILL_KEY (secrets separated by commas or line breaks), from the
file that WAYBILL_KEY_FILE names (one on each line), from the output of
WAYBILL_KEY_COMMAND (as that of a password manager), or else from the key file in your
configuration directory, which the first apply makes. A key is known by its id, which
tells nothing about it.`,
	}
	group(cmd)
	cmd.AddCommand(a.keysListCommand(), a.keysNewCommand(), a.keysRotateCommand(), a.keysRetireCommand())
	return cmd
}

func (a *app) keysListCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "list", Short: "List the ids of the keys here", Args: noArgs,
		Long: `Lists the keys that this user has here, by their ids, and what they are for. It shows
no secret, and makes no key where there is none.`,
		Example: `waybill keys list
waybill keys list -json`,
		RunE: func(*cobra.Command, []string) error {
			k, from, err := a.ring(false)
			if err != nil {
				return err
			}
			return a.listKeys(k, from, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

func (a *app) listKeys(k *conveyor.Keyring, from conveyor.KeySource, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.p.Stdout).Encode(struct {
			Format string   `json:"format_version"`
			Source string   `json:"source"`
			Signs  string   `json:"signs,omitempty"`
			Keys   []string `json:"keys"`
		}{"1.0", from.String(), k.ID(), append([]string{}, k.IDs()...)})
	}
	if k == nil {
		fmt.Fprintf(a.p.Stdout, "There is no key yet. The first apply makes one in %s.\n", from)
		return nil
	}
	fmt.Fprintf(a.p.Stdout, "From %s:\n\n", from)
	rows := [][]string{{"KEY", "USE"}}
	for i, id := range k.IDs() {
		use := "signs and seals"
		if i > 0 {
			use = "verifies and opens what it made"
		}
		rows = append(rows, []string{id, use})
	}
	return table(a.p.Stdout, rows)
}

func (a *app) keysNewCommand() *cobra.Command {
	return &cobra.Command{
		Use: "new", Short: "Make a secret, and write it to the standard output", Args: noArgs,
		Long: `Makes a secret of 256 random bits, writes it to the standard output, and its id to
the standard error. It is stored nowhere: it is for a password manager, or for
WAYBILL_KEY.`,
		Example: `export WAYBILL_KEY="$(waybill keys new)"
export WAYBILL_KEY="$(waybill keys new),$WAYBILL_KEY"`,
		RunE: func(*cobra.Command, []string) error {
			secret := conveyor.NewSecret()
			k, err := conveyor.NewKeyring(secret)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.p.Stderr, "The id of this key is %s.\n", k.ID())
			_, err = fmt.Fprintln(a.p.Stdout, secret)
			return err
		},
	}
}

func (a *app) keysRotateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Put a new key first into your key file", Args: noArgs,
		Long: `Makes a new key and puts it first into the key file in your configuration directory.
From then on it signs and seals; what the keys before it made is still verified and
opened. Give the file to the workers before the next apply, then sign what waits anew
with "waybill apply -rekey".

Keys from WAYBILL_KEY, WAYBILL_KEY_FILE or WAYBILL_KEY_COMMAND are where you keep
them: put one that "waybill keys new" makes first there.`,
		RunE: func(*cobra.Command, []string) error {
			name, err := a.ownKeyFile()
			if err != nil {
				return err
			}
			k, err := conveyor.RotateKeyFile(name)
			if err != nil {
				return fail("Cannot rotate the key", "%v.", err)
			}
			if err := a.listKeys(k, conveyor.KeySource{File: name}, false); err != nil {
				return err
			}
			if len(k.IDs()) > 1 && !a.automated() {
				fmt.Fprintf(a.p.Stdout, `
Next:

  1. Give this file to the workers, and start them again.
  2. For each workflow, sign what waits anew:  waybill apply -rekey
  3. When "waybill doctor" says that nothing needs %s any more:  waybill keys retire %s
`, strings.Join(k.IDs()[1:], ", "), k.IDs()[1])
			}
			return nil
		},
	}
}

func (a *app) keysRetireCommand() *cobra.Command {
	autoApprove := false
	cmd := &cobra.Command{
		Use: "retire ID", Short: "Take a key out of your key file",
		Long: `Takes a key out of the key file in your configuration directory, after asking. There
is no undo: what only that key signed or sealed can be used by nobody who does not have
it elsewhere. "waybill doctor" tells which jobs still need which key.`,
		Example: `waybill keys retire 5b1f9c02`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fail("Wrong arguments", "keys retire takes the id of one key, as \"waybill keys list\" shows it, and got %q.", args)
			}
			return a.retireKey(cmd.Context(), args[0], autoApprove)
		},
	}
	cmd.Flags().BoolVar(&autoApprove, "auto-approve", false, "Do not ask.")
	return cmd
}

func (a *app) retireKey(ctx context.Context, id string, autoApprove bool) error {
	name, err := a.ownKeyFile()
	if err != nil {
		return err
	}
	k, _, err := a.ring(false)
	if err != nil {
		return err
	}
	if !k.Holds(id) {
		return a.noSuchKey(k, id)
	}
	if len(k.IDs()) == 1 {
		return fail("Cannot retire the key", "%s is the only key in %s. Put another one there first: \"waybill keys rotate\".", id, name)
	}
	if !autoApprove {
		ok, err := a.prompt(ctx, "-auto-approve", fmt.Sprintf("Do you want to take key %s out of %s?", id, name),
			"Jobs that wait with its signature, and values sealed with it, can be used by nobody who does not have it elsewhere. There is no undo.\n"+
				"Only 'yes' will be accepted to approve.")
		if err != nil {
			return err
		}
		if !ok {
			fmt.Fprintln(a.p.Stdout, "Nothing was changed.")
			return exit(exitError)
		}
	}
	if k, err = conveyor.RetireKey(name, id); err != nil {
		return fail("Cannot retire the key", "%v.", err)
	}
	return a.listKeys(k, conveyor.KeySource{File: name}, false)
}

// noSuchKey names the keys that there are.
func (a *app) noSuchKey(k *conveyor.Keyring, id string) error {
	if k == nil {
		return fail("Unknown key", "There is no key here, and so none with the id %q.", id)
	}
	return fail("Unknown key", "There is no key with the id %q here. There is %s.", id, strings.Join(k.IDs(), ", "))
}

// ownKeyFile is the file that commands may change. Keys that a variable gives are kept elsewhere.
func (a *app) ownKeyFile() (string, error) {
	for _, name := range []string{conveyor.KeyVariable, conveyor.KeyFileVariable, conveyor.KeyCommandVariable} {
		if strings.TrimSpace(a.getenv(name)) != "" {
			return "", fail("The keys are kept elsewhere", "They come from %s, so the key file in your configuration directory is not used. "+
				"Change them where they are kept: the first key signs and seals, and \"waybill keys new\" makes one.", name)
		}
	}
	name, err := conveyor.UserKeyFile()
	if err != nil {
		return "", fail("There is no key file", "%v.", err)
	}
	return name, nil
}
