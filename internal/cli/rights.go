package cli

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// The users of examples/acl, by what a command needs.
const (
	roleWatcher = "watcher"
	roleApplier = "applier"
	roleWorker  = "worker"
)

// rights are what a command needs of a Redis, for the message when it lacks one.
type rights struct {
	role      string // of whom examples/acl says what they need
	store     string // for people
	user      string // of the URL
	namespace string
}

// rightsFor are those of a command that uses a store in this way.
func (a *app) rightsFor(how access, s *store, url, namespace string) rights {
	r := rights{role: a.role, store: s.name, user: userOf(url), namespace: namespace}
	switch {
	case r.role != "":
	case how == reading:
		r.role = roleWatcher
	default:
		r.role = roleApplier
	}
	return r
}

// userOf is the user that a URL names.
func userOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "default"
	}
	if name := u.Query().Get("username"); name != "" { // that of the primary, beside the Sentinels' own
		return name
	}
	if u.User == nil || u.User.Username() == "" {
		return "default"
	}
	return u.User.Username()
}

// commandRefused finds the command in what servers of all versions say about one that a user may not run.
var commandRefused = regexp.MustCompile(`run the '([^']+)' command`)

// explain says which right an error is about, where it has to be given and who needs it. Other errors stay as they are.
func (r rights) explain(err error) error {
	if err == nil || !refused(err, "NOPERM ") {
		return err
	}
	text := err.Error()
	text = text[strings.Index(text, "NOPERM "):]
	right := ""
	switch command := commandRefused.FindStringSubmatch(text); {
	case command != nil:
		right = "the command +" + command[1]
	case strings.Contains(text, "channel"):
		right = "its channels"
	case strings.Contains(text, "key"):
		right = fmt.Sprintf("keys that this needs of the namespace, within ~{%s}:*", r.namespace)
	default:
		right = "a command that scripts run"
	}
	return &failure{cause: err, summary: "Redis refused a command", detail: fmt.Sprintf("The user %q of %s has no right to %s, and whoever runs this "+
		"command needs what the user %q of examples/acl/users.acl has. Give the user the right with ACL SETUSER, or name one that has it in the URL. "+
		"The server said: %s.", r.user, r.store, right, r.role, strings.TrimSuffix(text, "."))}
}
