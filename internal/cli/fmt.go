package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/spf13/cobra"
)

// formatter is one run of fmt.
type formatter struct {
	check, recursive, keep, diff bool

	out      io.Writer
	unclean  bool // a file was not formatted
	problems hcl.Diagnostics
	files    map[string]*hcl.File
}

func (a *app) fmtCommand() *cobra.Command {
	f := &formatter{files: map[string]*hcl.File{}}
	write := true
	cmd := &cobra.Command{
		Use: "fmt [DIR | FILE | -]...", Short: "Bring files into the canonical format",
		Long: `Rewrites *.hcl and *.wbvars files in the canonical format and lists those that
changed. The argument "-" formats stdin to stdout.

With -check nothing is written, and the exit code is 3 if a file is not
formatted.`,
		Example: `waybill fmt
waybill fmt -check -recursive workflows`,
		RunE: func(_ *cobra.Command, args []string) error {
			f.out, f.keep = a.p.Stdout, f.check || !write
			if len(args) == 0 {
				args = []string{"."}
			}
			for _, arg := range args {
				if err := f.argument(arg, a.p.Stdin); err != nil {
					return err
				}
			}
			if err := errorIf(f.problems, f.files); err != nil {
				return err
			}
			if f.check && f.unclean {
				return exit(exitFormat)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "Write nothing; exit with 3 if a file is not formatted.")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "Show what changes.")
	cmd.Flags().BoolVar(&f.recursive, "recursive", false, "Format the files of subdirectories too.")
	cmd.Flags().BoolVar(&write, "write", true, "With -write=false, write nothing.")
	return cmd
}

func (f *formatter) argument(arg string, stdin io.Reader) error {
	if arg == "-" {
		src, err := io.ReadAll(stdin)
		if err != nil {
			return fmt.Errorf("read stdin: %w", err)
		}
		out, ok := f.format("<stdin>", src)
		if !ok {
			return nil
		}
		if f.check {
			f.unclean = f.unclean || !bytes.Equal(src, out)
			return nil
		}
		_, err = f.out.Write(out)
		return err
	}
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) {
		return fail("No such file or directory", "%q does not exist.", arg)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", arg, err)
	}
	if !info.IsDir() {
		return f.file(arg, info.Mode())
	}
	return filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("read %s: %w", path, err)
		case d.IsDir() && path != arg && (!f.recursive || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular() || !formattable(d.Name()):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		return f.file(path, info.Mode())
	})
}

func formattable(name string) bool {
	return !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".wbvars"))
}

// file formats one file in place.
func (f *formatter) file(name string, mode fs.FileMode) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	out, ok := f.format(name, src)
	if !ok || bytes.Equal(src, out) {
		return nil
	}
	f.unclean = true
	fmt.Fprintln(f.out, name)
	if f.diff {
		writeDiff(f.out, name, src, out)
	}
	if f.keep {
		return nil
	}
	return replaceFile(name, out, mode)
}

// format returns the canonical form; false when the source is not HCL.
func (f *formatter) format(name string, src []byte) ([]byte, bool) {
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		f.files[name] = &hcl.File{Bytes: src}
		if file != nil {
			f.files[name] = file
		}
		f.problems = append(f.problems, diags...)
		return nil, false
	}
	return hclwrite.Format(src), true
}

// replaceFile writes a file as a whole or not at all.
func replaceFile(name string, data []byte, mode fs.FileMode) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name()) //nolint:errcheck // the first error says it
		}
	}()
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode.Perm()), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
