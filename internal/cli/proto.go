package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/config"
	"github.com/waybill-dev/waybill/config/protofile"
)

func (a *app) protoCommand() *cobra.Command {
	var v variables
	asJSON := false
	cmd := &cobra.Command{
		Use: "proto [MESSAGE] [DIR | FILES]", Short: "List protobuf messages, or write a job about one",
		Long: `Writes a job about a message of the workflow's proto block, to be filled in: every
field with its type, the values of enums, what excludes each other, and the fields
of messages inside. Without a message it lists those that there are.

Nothing but files is read, and jobs need not be valid yet.`,
		Example: `waybill proto
waybill proto shop.v1.Load
waybill proto -json shop.v1.Load examples/typed`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			set, err := a.messages(nil, v)
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			var names []string
			for _, name := range set.Names() {
				if strings.HasPrefix(name, typed) {
					names = append(names, name)
				}
			}
			return names, cobra.ShellCompDirectiveDefault
		},
		RunE: func(_ *cobra.Command, args []string) error {
			message := ""
			if len(args) > 0 {
				if _, err := os.Stat(args[0]); err != nil && !strings.ContainsAny(args[0], `/\`) && !strings.HasSuffix(args[0], ".hcl") {
					message, args = args[0], args[1:]
				}
			}
			set, err := a.messages(args, v)
			if err != nil {
				return err
			}
			if message == "" {
				return a.listMessages(set, asJSON)
			}
			m := set.Message(message)
			if m == nil {
				hint := ""
				if n := nearest(message, set.Names()); n != "" {
					hint = fmt.Sprintf(" Did you mean %q?", n)
				}
				return fail("Unknown message", "The .proto files of this workflow have no message %q.%s \"waybill proto\" lists them.", message, hint)
			}
			if asJSON {
				return json.NewEncoder(a.p.Stdout).Encode(protofile.Describe(m))
			}
			text, diags := config.Format([]byte(protofile.Skeleton(m)), "skeleton.hcl")
			if err := errorIf(diags, nil); err != nil {
				return err
			}
			_, err = a.p.Stdout.Write(text)
			return err
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

// messages reads the workflow block and what it names.
func (a *app) messages(paths []string, v variables) (*protofile.Set, error) {
	set, err := a.readMessages(paths, v)
	if err == nil && set == nil {
		err = fail("No messages", "The workflow has no proto block. Name its .proto files in one: workflow \"NAME\" { proto { files = [...] } }, each on a line of its own.")
	}
	return set, err
}

// readMessages is nil for a workflow without a proto block.
func (a *app) readMessages(paths []string, v variables) (*protofile.Set, error) {
	workspace, err := a.workspaceOf(paths)
	if err != nil {
		return nil, err
	}
	w, diags := config.Load(config.Options{Paths: paths, Workspace: workspace, Vars: v.sources, Environ: a.p.Environ, Version: Version, Quick: true, Messages: true})
	if err := errorIf(diags, w.Sources); err != nil {
		return nil, err
	}
	a.show(diags, w.Sources)
	return w.Messages, nil
}

func (a *app) listMessages(set *protofile.Set, asJSON bool) error {
	names := set.Names()
	if asJSON {
		list := struct {
			Messages []protofile.MessageDescription `json:"messages"`
		}{Messages: []protofile.MessageDescription{}}
		for _, name := range names {
			list.Messages = append(list.Messages, protofile.Describe(set.Message(name)))
		}
		return json.NewEncoder(a.p.Stdout).Encode(list)
	}
	for _, name := range names {
		if _, err := fmt.Fprintln(a.p.Stdout, name); err != nil {
			return err
		}
	}
	return nil
}
