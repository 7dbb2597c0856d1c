package examples_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/waybill-dev/waybill/internal/redistest"
)

// forge is a bare repository, a Redis, and a worker: what the pipelines of examples/gitops work on.
type forge struct {
	*testing.T
	dir, bare string
	env       []string
	redis     *redistest.Server
}

func openForge(t *testing.T) *forge {
	t.Helper()
	f := &forge{T: t, dir: t.TempDir(), redis: redistest.StartTCP(t)}
	f.bare = filepath.Join(f.dir, "origin.git")
	home := filepath.Join(f.dir, "home")
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "WAYBILL_") {
			f.env = append(f.env, pair)
		}
	}
	f.env = append(f.env, "HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "WAYBILL_REDIS="+f.redis.URL(), "CI=true",
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_AUTHOR_NAME=Somebody", "GIT_AUTHOR_EMAIL=somebody@example.com",
		"GIT_COMMITTER_NAME=Somebody", "GIT_COMMITTER_EMAIL=somebody@example.com")
	f.run(0, f.dir, "git", "init", "-q", "--bare", "-b", "main", f.bare)
	work := filepath.Join(f.dir, "first")
	if err := os.CopyFS(work, os.DirFS("gitops")); err != nil {
		t.Fatal(err)
	}
	f.run(0, work, "git", "init", "-q", "-b", "main")
	f.commit(work, "the first jobs")
	f.run(0, work, "git", "push", "-q", f.bare, "main")
	return f
}

// run runs a command and checks its exit code.
func (f *forge) run(code int, dir, name string, args ...string) string {
	f.Helper()
	c := exec.CommandContext(f.Context(), name, args...)
	c.Dir, c.Env = dir, f.env
	out, err := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != code {
		f.Fatalf("%s %q: %v, exit code %d, want %d\n%s", name, args, err, got, code, out)
	}
	return string(out)
}

func (f *forge) commit(dir, message string) {
	f.Helper()
	f.run(0, dir, "git", "add", "-A")
	f.run(0, dir, "git", "commit", "-q", "-m", message)
}

// checkout is a fresh clone of a branch, as each job of a pipeline has one.
func (f *forge) checkout(branch string) string {
	f.Helper()
	dir, err := os.MkdirTemp(f.dir, "checkout")
	if err != nil {
		f.Fatal(err)
	}
	f.run(0, dir, "git", "clone", "-q", "-b", branch, f.bare, ".")
	return dir
}

// propose pushes a branch from main with another text in main.hcl.
func (f *forge) propose(branch, old, new string) {
	f.Helper()
	dir := f.checkout("main")
	file := filepath.Join(dir, "main.hcl")
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), old) {
		f.Fatalf("%q is not in main.hcl: %v", old, err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
		f.Fatal(err)
	}
	f.run(0, dir, "git", "checkout", "-q", "-b", branch)
	f.commit(dir, branch)
	f.run(0, dir, "git", "push", "-q", "origin", branch)
}

// plan runs the pipeline of a branch under review, and keeps its plan under the files that it was made of.
func (f *forge) plan(branch string) (comment string) {
	f.Helper()
	dir := f.checkout(branch)
	f.run(0, dir, "sh", "ci/plan.sh", ".", f.planOf(dir), "comment.md")
	return f.read(filepath.Join(dir, "comment.md"))
}

func (f *forge) planOf(dir string) string {
	f.Helper()
	return filepath.Join(f.dir, strings.TrimSpace(f.run(0, dir, "git", "rev-parse", "HEAD^{tree}"))+".wbplan")
}

func (f *forge) read(file string) string {
	f.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	return string(text)
}

// merge makes main the branch, as of a merge button, and runs the pipeline of main.
func (f *forge) merge(branch string, code int) string {
	f.Helper()
	dir := f.checkout("main")
	f.run(0, dir, "git", "merge", "-q", "--no-ff", "-m", "merge "+branch, "origin/"+branch)
	f.run(0, dir, "git", "push", "-q", "origin", "main")
	dir = f.checkout("main")
	return f.run(code, dir, "sh", "ci/apply.sh", ".", f.planOf(dir))
}

func (f *forge) expect(text string, wants ...string) {
	f.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			f.Fatalf("%q is missing in:\n%s", want, text)
		}
	}
}

// TestGitOps lives through reviews and merges on a bare repository and a Redis, with the scripts that the pipelines call.
func TestGitOps(t *testing.T) {
	t.Parallel()
	f := openForge(t)
	worker := exec.Command("waybill", "worker", filepath.Join(f.dir, "first"))
	worker.Env = f.env
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = worker.Process.Signal(os.Interrupt)
		_ = worker.Wait()
	}()

	// The first apply is made by hand, since nobody has reviewed a plan; then nothing drifts.
	main := f.checkout("main")
	f.expect(f.run(0, main, "sh", "ci/apply.sh", "."), "Apply complete! Jobs: 3 added", "All jobs are settled: 3 completed.")
	f.run(0, main, "sh", "ci/drift.sh", ".", "drift.md")

	// A change is planned for its reviewers, and exactly that is applied once it is merged.
	f.propose("asia", `["eu", "us"]`, `["eu", "jp", "us"]`)
	f.expect(f.plan("asia"), "Plan: 2 to add, 0 to change, 1 to destroy.", "<code>job.extract[&quot;jp&quot;]</code> will be created")
	out := f.merge("asia", 0)
	f.expect(out, "Apply complete! Jobs: 2 added, 0 changed, 1 destroyed.", "All jobs are settled: 4 completed.")
	if strings.Contains(out, "Enter a value") {
		t.Errorf("something was asked:\n%s", out)
	}

	// Two changes are reviewed at once. The second to be merged was planned for other files than main has by then.
	f.propose("words", `"reporting"`, `"reporting", "in words"`)
	f.propose("africa", `["eu", "jp", "us"]`, `["eu", "jp", "us", "za"]`)
	f.plan("words")
	f.plan("africa")
	f.merge("words", 0)
	f.expect(f.merge("africa", 1), "there is no plan of exactly these files that somebody has reviewed", "Plan: 2 to add, 0 to change, 1 to destroy.")
	// Until somebody has looked at that and starts it by hand, it is drift.
	main = f.checkout("main")
	f.run(2, main, "sh", "ci/drift.sh", ".", "drift.md")
	f.expect(f.read(filepath.Join(main, "drift.md")), `job.extract[&quot;za&quot;]`)
	f.expect(f.run(0, main, "sh", "ci/apply.sh", "."), "Apply complete! Jobs: 2 added")

	// Somebody applies by hand between the review and the merge: the reviewed plan is refused, and nothing is submitted.
	f.propose("numbers", `"in words"`, `"in numbers"`)
	f.plan("numbers")
	f.run(0, main, "waybill", "apply", "-auto-approve", "-detach", "-replace=job.report", ".")
	f.run(0, main, "waybill", "wait", "-timeout=60s", ".")
	f.expect(f.merge("numbers", 1), "Saved plan is stale", "The plan that was reviewed has not been carried out. Planned now, it would be:", "Plan: 1 to add, 0 to change, 1 to destroy.")
	main = f.checkout("main")
	f.expect(f.run(0, main, "sh", "ci/apply.sh", "."), "All jobs are settled: 5 completed.")
	f.run(0, main, "sh", "ci/drift.sh", ".", "drift.md")

	// Jobs vanish from Redis.
	if err := f.redis.Client(t).Del(t.Context(), "{waybill}:status").Err(); err != nil {
		t.Fatal(err)
	}
	f.run(2, main, "sh", "ci/drift.sh", ".", "drift.md")
	f.expect(f.read(filepath.Join(main, "drift.md")), "Jobs have changed outside of Waybill", "job.report is not in the store any more")

	// What does not validate is told in the comment, and there is no plan.
	f.propose("broken", `job "report"`, `job "report" "twice"`)
	dir := f.checkout("broken")
	f.run(1, dir, "sh", "ci/plan.sh", ".", f.planOf(dir), "comment.md")
	f.expect(f.read(filepath.Join(dir, "comment.md")), "<h3>Waybill plan failed</h3>", "<b>Error: </b>")
	if _, err := os.Stat(f.planOf(dir)); err == nil {
		t.Error("there is a plan of what does not validate")
	}
}

// TestGitOpsWaits ends waiting for jobs that nobody runs with an exit code of its own.
func TestGitOpsWaits(t *testing.T) {
	t.Parallel()
	f := openForge(t)
	f.env = append(f.env, "WAYBILL_WAIT=300ms")
	f.expect(f.run(124, f.checkout("main"), "sh", "ci/apply.sh", "."), "Apply complete! Jobs: 3 added", "The jobs are not settled")
}

// service stands for the API of GitHub or GitLab, as far as the scripts use it: a list of comments, issues or notes.
type service struct {
	mu    sync.Mutex
	posts []map[string]any
	files map[string]string
	calls []string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, r.Method+" "+r.URL.Path)
	switch {
	case r.Header.Get("Authorization") != "Bearer secret" && r.Header.Get("PRIVATE-TOKEN") != "secret" && r.Header.Get("JOB-TOKEN") != "secret":
		http.Error(w, "who are you?", http.StatusUnauthorized)
	case strings.HasSuffix(r.URL.Path, "/user"):
		_, _ = io.WriteString(w, `{"id": 7}`)
	case strings.HasSuffix(r.URL.Path, "/actions/artifacts"):
		_, _ = io.WriteString(w, `{"artifacts": [
			{"expired": false, "workflow_run": {"id": 3, "head_repository_id": 666, "repository_id": 1}},
			{"expired": true,  "workflow_run": {"id": 2, "head_repository_id": 1, "repository_id": 1}},
			{"expired": false, "workflow_run": {"id": 1, "head_repository_id": 1, "repository_id": 1}}]}`)
	case strings.Contains(r.URL.Path, "/packages/") && r.Method == http.MethodPut:
		raw, _ := io.ReadAll(r.Body)
		s.files[r.URL.Path] = string(raw)
	case strings.Contains(r.URL.Path, "/packages/"):
		if text, ok := s.files[r.URL.Path]; ok {
			_, _ = io.WriteString(w, text)
		} else {
			http.NotFound(w, r)
		}
	case r.Method == http.MethodGet && r.URL.Query().Get("page") != "1":
		_, _ = io.WriteString(w, "[]")
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(s.posts)
	default:
		post := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&post); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if r.Method == http.MethodPost {
			post["id"], post["number"], post["user"], post["author"] = len(s.posts), len(s.posts), map[string]any{"type": "Bot"}, map[string]any{"id": 7}
			s.posts = append(s.posts, post)
			return
		}
		var id int
		if _, err := fmt.Sscanf(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], "%d", &id); err != nil || id >= len(s.posts) {
			http.NotFound(w, r)
			return
		}
		s.posts[id]["body"] = post["body"]
	}
}

// TestGitOpsTellsForges runs the scripts that speak with GitHub and GitLab: what they write is kept up to date, and never mistaken
// for what somebody else has written.
func TestGitOpsTellsForges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
	}{
		{"a comment on GitHub", []string{"ci/github.sh", "comment", "12", "told.md"}},
		{"an issue on GitHub", []string{"ci/github.sh", "issue", "told.md"}},
		{"a note on GitLab", []string{"ci/gitlab.sh", "comment", "told.md"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, s := openHosted(t)
			s.posts = []map[string]any{{"id": 0, "number": 0, "body": "<!-- waybill -->\nof somebody", "user": map[string]any{"type": "User"}, "author": map[string]any{"id": 8}}}
			for _, text := range []string{"first\n", "`second` \"$HOME\" \\n é\n"} {
				if err := os.WriteFile(filepath.Join(f.dir, "told.md"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				f.run(0, f.dir, "sh", test.args...)
				if len(s.posts) != 2 || s.posts[1]["body"] != "<!-- waybill -->\n"+text || s.posts[0]["body"] != "<!-- waybill -->\nof somebody" {
					t.Fatalf("after %q there is %v\n%v", text, s.posts, s.calls)
				}
			}
		})
	}
	t.Run("a reviewed plan on GitHub", func(t *testing.T) {
		t.Parallel()
		f, _ := openHosted(t)
		if out := f.run(0, f.dir, "sh", "ci/github.sh", "reviewed", "waybill-plan-x"); out != "run=1\n" {
			t.Errorf("got %q: runs of forks and expired ones do not count", out)
		}
	})
	t.Run("a reviewed plan on GitLab", func(t *testing.T) {
		t.Parallel()
		f, _ := openHosted(t)
		f.run(0, f.dir, "sh", "ci/gitlab.sh", "fetch", "reviewed.wbplan")
		if _, err := os.Stat(filepath.Join(f.dir, "reviewed.wbplan")); err == nil {
			t.Fatal("a plan that nobody has saved is there")
		}
		if err := os.WriteFile(filepath.Join(f.dir, "made.wbplan"), []byte("a plan"), 0o600); err != nil {
			t.Fatal(err)
		}
		f.run(0, f.dir, "sh", "ci/gitlab.sh", "save", "made.wbplan")
		f.run(0, f.dir, "sh", "ci/gitlab.sh", "fetch", "reviewed.wbplan")
		if got := f.read(filepath.Join(f.dir, "reviewed.wbplan")); got != "a plan" {
			t.Errorf("got %q", got)
		}
	})
}

// openHosted is a checkout on a host that is only its API.
func openHosted(t *testing.T) (*forge, *service) {
	t.Helper()
	s := &service{files: map[string]string{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	f := &forge{T: t, dir: t.TempDir()}
	if err := os.CopyFS(f.dir, os.DirFS("gitops")); err != nil {
		t.Fatal(err)
	}
	f.env = append(os.Environ(), "GITHUB_API_URL="+server.URL, "GITHUB_REPOSITORY=shop/jobs", "GITHUB_TOKEN=secret", "CI_API_V4_URL="+server.URL, "CI_PROJECT_ID=4",
		"CI_MERGE_REQUEST_IID=12", "GITLAB_TOKEN=secret", "CI_JOB_TOKEN=secret", "no_proxy=127.0.0.1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=Somebody", "GIT_AUTHOR_EMAIL=somebody@example.com", "GIT_COMMITTER_NAME=Somebody", "GIT_COMMITTER_EMAIL=somebody@example.com")
	f.run(0, f.dir, "git", "init", "-q")
	f.commit(f.dir, "all")
	return f, s
}

// TestGitOpsPipelines reads the pipelines of both hosts: each line that they run calls a script that is there with words that it
// knows, and each option of waybill that stands in them, in the scripts or in the README is one of its command.
func TestGitOpsPipelines(t *testing.T) {
	t.Parallel()
	known := []*regexp.Regexp{
		regexp.MustCompile(`^sh ci/plan\.sh \. \S+\.wbplan \S+\.md$`),
		regexp.MustCompile(`^sh ci/apply\.sh \.( \S+\.wbplan)?$`),
		regexp.MustCompile(`^sh ci/drift\.sh \. \S+\.md$`),
		regexp.MustCompile(`^sh ci/github\.sh (comment \$\{\{ github\.event\.number \}\} \S+\.md|issue \S+\.md|reviewed waybill-plan-\$\{\{ \S+ \}\} >> "\$GITHUB_OUTPUT")$`),
		regexp.MustCompile(`^sh ci/gitlab\.sh (comment \S+\.md|(save|fetch) \S+\.wbplan)$`),
		regexp.MustCompile(`^echo "tree=\$\(git rev-parse 'HEAD\^\{tree\}'\)" >> "\$GITHUB_OUTPUT"$`),
		regexp.MustCompile(`^go install github\.com/waybill-dev/waybill@latest$`),
		regexp.MustCompile(`^apt-get update -q && apt-get install -qy curl jq$`),
	}
	texts := []string{}
	for _, file := range []string{"gitops/.github/workflows/waybill.yml", "gitops/.gitlab-ci.yml"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(raw))
		value, err := ctyyaml.Unmarshal(raw, cty.DynamicPseudoType)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		plain, err := ctyjson.Marshal(value, value.Type())
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(plain, &tree); err != nil {
			t.Fatal(err)
		}
		called := map[string]bool{}
		for _, line := range scripted(tree) {
			ok := false
			for _, k := range known {
				ok = ok || k.MatchString(line)
			}
			if !ok {
				t.Errorf("%s runs what no script knows: %s", file, line)
			}
			if script := regexp.MustCompile(`ci/\w+\.sh`).FindString(line); script != "" {
				called[script] = true
				if _, err := os.Stat(filepath.Join("gitops", script)); err != nil {
					t.Error(err)
				}
			}
		}
		if !called["ci/plan.sh"] || !called["ci/apply.sh"] || !called["ci/drift.sh"] {
			t.Errorf("%s calls only %v", file, called)
		}
	}
	scripts, err := filepath.Glob("gitops/ci/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range append(scripts, "gitops/README.md") {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(raw))
		if strings.HasSuffix(file, ".sh") {
			if out, err := exec.Command("sh", "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", file, err, out)
			}
		}
	}
	checked := 0
	for _, text := range texts {
		for _, m := range regexp.MustCompile(`(?m)(?:^|[^/\w.-])waybill (plan|apply|wait|show|worker|reconcile)\b([^\n|&;#]*)`).FindAllStringSubmatch(text, -1) {
			help, err := exec.Command("waybill", m[1], "-help").Output()
			if err != nil {
				t.Fatalf("waybill %s -help: %v", m[1], err)
			}
			for _, option := range regexp.MustCompile(`(?:^| )-([a-z][a-z-]*)`).FindAllStringSubmatch(m[2], -1) {
				checked++
				if !regexp.MustCompile(`(?m)^ +-` + option[1] + `(=| |$)`).Match(help) {
					t.Errorf("waybill %s has no option -%s", m[1], option[1])
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d options were found", checked)
	}
}

// scripted are the lines that a pipeline runs, wherever they stand in it.
func scripted(tree any) (lines []string) {
	switch v := tree.(type) {
	case []any:
		for _, e := range v {
			lines = append(lines, scripted(e)...)
		}
	case map[string]any:
		for name, e := range v {
			switch name {
			case "run", "script", "before_script", "after_script":
				lines = append(lines, texts(e)...)
			default:
				lines = append(lines, scripted(e)...)
			}
		}
	}
	return lines
}

func texts(v any) (lines []string) {
	switch v := v.(type) {
	case string:
		return strings.Split(strings.TrimSpace(v), "\n")
	case []any:
		for _, e := range v {
			lines = append(lines, texts(e)...)
		}
	}
	return lines
}
