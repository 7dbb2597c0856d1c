package outbox

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DefaultTable is the name of a table that is not given another.
const DefaultTable = "waybill_outbox"

// maxIdentifier is the longest name in bytes: PostgreSQL cuts off what is longer, without a word.
const maxIdentifier = 63

// ErrIdentifier means a name of a table or column that cannot be one in every database.
var ErrIdentifier = errors.New("invalid identifier")

// Table says where pending jobs are kept. Only Dialect has to be set. The same Table goes to schedulers and relays.
type Table struct {
	Dialect Dialect
	// Name is that of the table, or "schema.table". The default is DefaultTable, in whatever schema or database the connection
	// uses.
	Name string
	// Columns are the names of its columns, for houses with rules for such names.
	Columns Columns
	// Silent leaves out the trigger by which a PostgreSQL table tells relays of new rows: they come at their interval then. A
	// NOTIFY makes the commits of its database queue up behind each other for a moment each; at thousands of commits a second
	// that is too much. A trigger that is there already stays. It changes nothing on other databases.
	Silent bool
}

// Columns names the columns of a table. The zero value of each field is the name in its comment. Names are quoted wherever they
// are used, so they may be words of SQL; a name has at most 63 bytes.
type Columns struct {
	ID        string // id: the order of insertion
	UUID      string // uuid: the job's, unique
	Job       string // job: a marshalled wire.Job
	CreatedAt string // created_at: by the database's clock
	DeadAt    string // dead_at: since when it is a dead letter; NULL while it is pending
	Reason    string // reason: why it is one
	// ClaimedBy and ClaimedUntil exist on SQLite only, where a relay has no row locks to hold.
	ClaimedBy    string // claimed_by: the relay that is pushing it
	ClaimedUntil string // claimed_until: when the claim runs out
}

// String is the table's name.
func (t Table) String() string { return t.withDefaults().Name }

// Channel is where a PostgreSQL table notifies of new rows: the table's name without its schema.
func (t Table) Channel() string {
	_, name := t.withDefaults().split()
	return name
}

func (t Table) withDefaults() Table {
	if t.Name == "" {
		t.Name = DefaultTable
	}
	for i, c := range t.Columns.fields() {
		if *c == "" {
			*c = columnNames[i]
		}
	}
	return t
}

var columnNames = []string{"id", "uuid", "job", "created_at", "dead_at", "reason", "claimed_by", "claimed_until"}

// fields are the names, in the order of columnNames. The last two are SQLite's.
func (c *Columns) fields() []*string {
	return []*string{&c.ID, &c.UUID, &c.Job, &c.CreatedAt, &c.DeadAt, &c.Reason, &c.ClaimedBy, &c.ClaimedUntil}
}

// names are the columns that the table has, in the order in which it is made.
func (t *Table) names() []string {
	fields := t.Columns.fields()
	if t.Dialect != SQLite {
		fields = fields[:len(fields)-2]
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = *f
	}
	return names
}

// validate joins all that is wrong with a table that has its defaults.
func (t Table) validate() error {
	var problems []error
	if _, ok := dialectNames[t.Dialect]; !ok {
		problems = append(problems, fmt.Errorf("field Dialect: %d: %w: use PostgreSQL, MySQL or SQLite", int(t.Dialect), ErrDialect))
	}
	parts := strings.Split(t.Name, ".")
	if len(parts) > 2 {
		problems = append(problems, fmt.Errorf("field Name: %.140q: %w: it is a table or schema.table", t.Name, ErrIdentifier))
	}
	for _, part := range parts {
		problems = append(problems, checkIdentifier("Name", part))
	}
	seen := map[string]bool{}
	for _, name := range t.names() {
		problems = append(problems, checkIdentifier("Columns", name))
		if key := strings.ToLower(name); seen[key] { // only PostgreSQL tells them apart by case
			problems = append(problems, fmt.Errorf("field Columns: %w: two columns are named %q", ErrIdentifier, name))
		} else {
			seen[key] = true
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("outbox table: %w", err)
	}
	return nil
}

func checkIdentifier(field, name string) error {
	problem := ""
	switch {
	case name == "":
		problem = "a part of it is empty"
	case len(name) > maxIdentifier:
		problem = fmt.Sprintf("%d bytes, the limit is %d", len(name), maxIdentifier)
	case strings.ContainsRune(name, 0):
		problem = "it contains a NUL"
	case !utf8.ValidString(name):
		problem = "it is not UTF-8"
	default:
		return nil
	}
	return fmt.Errorf("field %s: %.80q: %w: %s", field, name, ErrIdentifier, problem)
}

// split separates a checked name; schema may be empty.
func (t Table) split() (schema, name string) {
	if schema, name, ok := strings.Cut(t.Name, "."); ok {
		return schema, name
	}
	return "", t.Name
}

// quoted is the table in a statement.
func (t Table) quoted() string {
	schema, name := t.split()
	return t.in(schema, name)
}

// in is a quoted name in a schema, which may be empty.
func (t Table) in(schema, name string) string {
	if schema == "" {
		return t.Dialect.quote(name)
	}
	return t.Dialect.quote(schema) + "." + t.Dialect.quote(name)
}

// beside is the name of something that belongs to the table, such as an index. Where the sum of both names is too long, the
// table's is cut and told apart by a digest of all of it.
func (t Table) beside(suffix string) string {
	_, name := t.split()
	if len(name)+len(suffix) <= maxIdentifier {
		return name + suffix
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // it never fails
	suffix = "_" + strconv.FormatUint(uint64(h.Sum32()), 36) + suffix
	cut := maxIdentifier - len(suffix)
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut] + suffix
}
