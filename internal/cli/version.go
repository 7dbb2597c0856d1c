package cli

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// Version is this program's version. A required_version in a workflow block is compared with it.
const Version = "0.1.0"

func (a *app) versionCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "version", Short: "Show the version of Waybill", Args: noArgs,
		Long: `Shows the version of Waybill and the platform it is built for.`,
		RunE: func(*cobra.Command, []string) error { return a.printVersion(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Write one JSON object.")
	return cmd
}

func (a *app) printVersion(asJSON bool) error {
	platform := runtime.GOOS + "_" + runtime.GOARCH
	if !asJSON {
		fmt.Fprintf(a.p.Stdout, "Waybill v%s\non %s\n", Version, platform)
		return nil
	}
	return json.NewEncoder(a.p.Stdout).Encode(struct {
		Waybill  string `json:"waybill_version"`
		Platform string `json:"platform"`
		Go       string `json:"go_version"`
	}{Version, platform, runtime.Version()})
}
