package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// TestInvalidPolicies loads every wrong policy and compares all that is reported with what its lines expect, as TestInvalid does.
func TestInvalidPolicies(t *testing.T) {
	t.Parallel()
	for _, path := range cases(t, "testdata/policy/invalid") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".hcl"), func(t *testing.T) {
			t.Parallel()
			want, _ := readCase(t, path)
			p, diags := LoadPolicy([]string{path})
			compareDiagnostics(t, want, diags)
			checkDiagnostics(t, diags)
			checkRendering(t, &Workflow{Sources: p.Sources()}, diags)
		})
	}
}

// TestPolicyFiles checks what is said about the files themselves.
func TestPolicyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, row := range []struct {
		name, path, fragment string
		sum                  summary
	}{
		{"missing", filepath.Join(dir, "nowhere.hcl"), "does not exist", sumCannotRead},
		{"directory", dir, "is a directory and not a regular file", sumCannotRead},
		{"huge", filepath.Join(hugeFile(t), "main.hcl"), "The file has 100 MiB", sumFileTooLarge},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, diags := LoadPolicy([]string{row.path, row.path})
			expectOne(t, diags, row.sum, row.fragment)
		})
	}
}

// TestHostilePolicies gives what TestHostileFiles does to policies. They run one after the other, as there.
func TestHostilePolicies(t *testing.T) {
	for _, h := range hostileFiles {
		text := string(h.text())
		if strings.HasPrefix(text, "job") || strings.HasPrefix(text, "variable") || strings.HasPrefix(text, "module") || strings.Contains(text, "job \"a\" {\n  for_each") || strings.Contains(text, "job \"a\" {\n  count") {
			continue // no block of a policy
		}
		t.Run(h.name, func(t *testing.T) {
			diags := judgedText(t, text, &PlanData{})
			for _, d := range diags {
				if d.Summary == string(h.summary) {
					return
				}
			}
			t.Errorf("no %q in %.2000v", h.summary, diags)
		})
	}
	jobs := make([]ChangeData, 5000)
	for i := range jobs {
		jobs[i] = ChangeData{JobData: JobData{Addr: Addr{Name: "a", Key: InstanceKey{Kind: KeyInt, Int: i}}}, After: []byte(`{"type":"noop"}`)}
	}
	rule := func(each, condition, message string) string {
		return "deny \"a\" {\n  for_each = " + each + "\n  condition = " + condition + "\n  error_message = " + message + "\n}\n"
	}
	for _, row := range []struct {
		name, text string
		sum        summary
	}{
		{"changes for each change", rule("plan.changes", "length([for a in plan.changes : a if a.address == each.value.address]) > 1", `"No."`), sumTooManySteps},
		{"elements without end", rule("setproduct(range(1000), range(1000))", "true", `"No."`), sumTooManySteps},
		{"long messages", "locals {\n  long = join(\"\", [for i in range(1000) : \"" + strings.Repeat("x", 1000) + "\"])\n}\n" +
			rule("plan.changes", "true", `"${local.long}${each.key}"`), sumDenied},
		{"a name without end", rule("{ (join(\"\", [for i in range(1000) : \""+strings.Repeat("x", 1000)+"\"])) = 1 }", "true", `"No."`), sumDenied},
	} {
		t.Run(row.name, func(t *testing.T) {
			diags := judgedText(t, row.text, &PlanData{Changes: jobs})
			if len(diags) != 1 || diags[0].Summary != string(row.sum) || len(diags[0].Detail) > 60_000 {
				t.Errorf("got %.2000v, want %q", diags, row.sum)
			}
		})
	}
}

// judgedText is what a policy of one file says of a plan, or what is wrong with it.
func judgedText(t *testing.T, text string, d *PlanData) hcl.Diagnostics {
	t.Helper()
	p, diags := policyOf(t, text)
	if diags.HasErrors() {
		return diags
	}
	return p.Judge(d)
}

func policyOf(t *testing.T, text string) (*Policy, hcl.Diagnostics) {
	t.Helper()
	dir := writeTree(t, map[string]string{"policy.hcl": text})
	return LoadPolicy([]string{filepath.Join(dir, "policy.hcl")})
}
