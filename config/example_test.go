package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/waybill-dev/waybill/config"
)

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "waybill")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	text := `
workflow "orders" {}

variable "day" { type = string }

job "extract" {
  for_each = toset(["eu", "us"])
  exec {
    command = ["echo", each.key, var.day]
  }
}

job "load" {
  type    = "shop.Load"
  payload = { day = var.day }
  predecessor { jobs = values(job.extract) }
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	w, diags := config.Load(config.Options{
		Paths: []string{dir},
		Vars:  []config.VarSource{{Assign: "day=2026-11-20"}},
	})
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	for _, job := range w.Jobs {
		fmt.Println(job.Addr, job.Type, string(job.Payload))
	}
	// Output:
	// job.extract["eu"] exec {"command":["echo","eu","2026-11-20"]}
	// job.extract["us"] exec {"command":["echo","us","2026-11-20"]}
	// job.load shop.Load {"day":"2026-11-20"}
}

// The sources of a workflow show the places of mistakes.
func ExampleLoad_diagnostics() {
	w, diags := config.Load(config.Options{Paths: []string{"testdata/invalid/undeclared_job.hcl"}})
	out := hcl.NewDiagnosticTextWriter(os.Stdout, w.Sources, 72, false)
	if err := out.WriteDiagnostic(diags[0]); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Error: Reference to undeclared job
	//
	//   on testdata/invalid/undeclared_job.hcl line 5, in job "load":
	//    5:   predecessor { job = job.extrct } # ERROR: Reference to undeclared job | Did you mean "extract"?
	//
	// No job "extrct" is declared. Did you mean "extract"?
}

func ExampleFormat() {
	src := "job \"hello\" {\nexec {\n\n  command=[\"echo\", \"${var.name}\"]\n}\n}\n"
	out, diags := config.Format([]byte(src), "main.hcl")
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	fmt.Print(string(out))
	// Output:
	// job "hello" {
	//   exec {
	//     command = ["echo", var.name]
	//   }
	// }
}
