package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill-dev/waybill/conveyor"
	"github.com/waybill-dev/waybill/conveyor/handlers"
)

// secretsFlag is what a worker of the command line gives to jobs.
type secretsFlag struct{ patterns string }

func (s *secretsFlag) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.patterns, "secrets", "", "Give jobs that ask for them the secrets that these `PATTERNS` cover, as in 'env:DB_*,file:/run/secrets/*': variables of this "+
		"process and files of this machine. Default: none.")
}

// source is nil without the option.
func (s *secretsFlag) source() (conveyor.SecretSource, error) {
	if s.patterns == "" {
		return nil, nil
	}
	patterns := strings.Split(s.patterns, ",")
	for i := range patterns {
		patterns[i] = strings.TrimSpace(patterns[i])
	}
	source, err := handlers.NewSecrets(patterns...)
	if err != nil {
		return nil, fail("Invalid option", "-secrets: %v.", err)
	}
	return source, nil
}
