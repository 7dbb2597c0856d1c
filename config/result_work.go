package config

import (
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Results come from the store, and whoever can write there must not thereby run commands or send requests elsewhere: what follows
// keeps results out of what decides on that.

const notToDecide = "A result comes from the store, and whoever can write there must not thereby decide what runs. "

const secretInEnv = "Give the secret in env, and write the variable into the code: \"$NAME\", in quotes."

// codeOptions are the programs that take code from an argument, and the letters of their options for it.
var codeOptions = map[string]string{
	"sh": "c", "bash": "c", "dash": "c", "zsh": "c", "ksh": "c", "ash": "c", "fish": "c", "su": "c", "busybox": "c", "cmd": "ck", "powershell": "c", "pwsh": "c",
	"python": "c", "perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "php": "r", "lua": "e", "osascript": "e", "psql": "c",
}

// takesCode tells whether the next argument behind these is code for an interpreter, which it names.
func takesCode(args []string) (program string, yes bool) {
	if len(args) < 2 {
		return "", false
	}
	option := args[len(args)-1]
	for _, arg := range args[:len(args)-1] {
		name := strings.TrimRight(strings.TrimSuffix(path.Base(strings.ReplaceAll(arg, `\`, "/")), ".exe"), "0123456789.")
		letters := codeOptions[name]
		if letters == "" {
			continue
		}
		long := strings.HasPrefix(option, "--")
		switch {
		case long && slices.Contains([]string{"--eval", "--print", "--command", "--run"}, option):
			return name, true
		case !long && len(option) > 1 && (option[0] == '-' || name == "cmd" && option[0] == '/') && strings.ContainsAny(option[1:], letters) && !strings.ContainsAny(option, "=@"):
			return name, true
		}
	}
	return "", false
}

// checkArgument refuses results where an argument of a command decides what runs. before are the arguments in front of it.
func (s *scope) checkArgument(text string, before []string, expr hcl.Expression) {
	if !hasReading(text) {
		return
	}
	program, code := takesCode(before)
	if secret, found := firstReading(text, true); found {
		switch {
		case len(before) == 0:
			s.r.error(sumBadSecret, originRange(secret.origin), "The program has to be written out; secrets may be its arguments.")
		case code:
			s.r.error(sumBadSecret, originRange(secret.origin), "This argument is code for %s, and what a secret holds would be read as such. %s", program, secretInEnv)
		}
	}
	if _, found := firstReading(text, false); !found {
		return
	}
	at := placeOfReading(text, expr.Range())
	if len(before) == 0 {
		s.r.error(sumBadResult, at, "%sThe program has to be written out; results may be its arguments.", notToDecide)
		return
	}
	if code {
		s.r.error(sumBadResult, at, "%sThis argument is code for %s. Write the code without the result, and give that as an argument behind it, such as \"$1\" in [\"sh\", \"-c\", CODE, \"sh\", job.NAME.result.KEY], or in env.",
			notToDecide, program)
	}
}

// guidingVariables are those from which loaders, shells and interpreters take code or programs.
var guidingVariables = []string{
	"PATH", "IFS", "ENV", "BASH_ENV", "SHELL", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "EDITOR", "VISUAL", "PAGER", "BROWSER", "HOME", "XDG_CONFIG_HOME",
	"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PERL5LIB", "PERL5OPT", "PERL5DB", "RUBYLIB", "RUBYOPT", "NODE_PATH", "NODE_OPTIONS", "PHPRC", "PHP_INI_SCAN_DIR",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "LUA_PATH", "LUA_CPATH", "LUA_INIT", "MAKEFLAGS",
	"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
}

// checkVariable refuses results in variables of an environment that decide what runs.
func (s *scope) checkVariable(name, text string, at hcl.Range) {
	if _, found := firstReading(text, false); !found {
		return
	}
	guides := slices.Contains(guidingVariables, name)
	for _, prefix := range []string{"LD_", "DYLD_", "GIT_", "BASH_FUNC_"} {
		guides = guides || strings.HasPrefix(name, prefix)
	}
	if guides {
		s.r.error(sumBadResult, placeOfReading(text, at), "%sPrograms take code from %s, or let it lead them elsewhere. Give the result to the command in another variable.", notToDecide, name)
	}
}

// isSecret tells whether a text is a secret and nothing else.
func isSecret(text string) bool {
	r, whole := wholeReading(text)
	return whole && r.Secret != "" && r.origin != "" && (r.Form == "" || r.Form == "t")
}

// checkHeader refuses results in the header that names the host.
func (s *scope) checkHeader(name, text string, at hcl.Range) {
	if _, found := firstReading(text, false); found && strings.EqualFold(name, "Host") {
		s.r.error(sumBadResult, placeOfReading(text, at), "A result comes from the store, and whoever can write there must not thereby choose whom a request goes to. Write the host out.")
	}
}

// urlReadings has results and secrets stand in the path and the query of a URL as values, with percent signs, and nowhere else, but for a
// secret that is the whole URL.
func (s *scope) urlReadings(text string, a *attribute) (string, bool) {
	if !hasReading(text) {
		return text, true
	}
	if isSecret(text) {
		return textReading(text), true
	}
	ok := true
	out := eachReading([]byte(text), func(r Reading, before, _ []byte) (string, int) {
		if r.origin == "" || !ok {
			return "", 0
		}
		_, rest, schemed := strings.Cut(string(before), "://")
		switch {
		case r.Secret != "" && (!schemed || !strings.ContainsAny(rest, "/?#")):
			s.r.error(sumBadSecret, originRange(r.origin), "A secret is a whole url, or a value of the path or the query of one, whose scheme, host and port are written out.")
			ok = false
			return "", 0
		case !schemed || !strings.ContainsAny(rest, "/?#"):
			s.r.error(sumBadResult, originRange(r.origin), "A result comes from the store, and whoever can write there must not thereby choose whom a request goes to: scheme, host and port of a url are written out. "+
				"Behind them, in path and query, results may stand.")
			ok = false
			return "", 0
		case r.Form != "" && r.Form != "t":
			s.r.error(sumBadResult, originRange(r.origin), "In a url a result or secret is a value of the path or the query, where it is encoded by itself. Put what jsonencode makes into the body.")
			ok = false
			return "", 0
		case strings.Contains(withoutReadings(rest), "?"):
			r.Form = "tq"
		default:
			r.Form = "tp"
		}
		return r.Placeholder(), 0
	})
	return string(out), ok
}
