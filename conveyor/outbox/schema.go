package outbox

import (
	"fmt"
	"strings"
)

// Schema is what Migrate does, as statements for a migration tool: each can be run again without harm. Dead letters stay in the
// table, and there may be many of them, so an index finds the oldest pending rows whatever else there is.
func (t Table) Schema() ([]string, error) {
	t = t.withDefaults()
	if err := t.validate(); err != nil {
		return nil, err
	}
	return append([]string{t.createTable()}, t.createRest()...), nil
}

// DropSchema undoes Schema, with all rows.
func (t Table) DropSchema() ([]string, error) {
	t = t.withDefaults()
	if err := t.validate(); err != nil {
		return nil, err
	}
	drop := []string{"DROP TABLE IF EXISTS " + t.quoted()}
	if t.Dialect == PostgreSQL {
		schema, _ := t.split()
		drop = append(drop, "DROP FUNCTION IF EXISTS "+t.in(schema, t.beside("_notify"))+"()")
	}
	return drop, nil
}

// createTable is the statement that makes the table, with what its database can make along with it.
func (t Table) createTable() string {
	d := t.Dialect
	var types []string
	switch d {
	case PostgreSQL:
		types = []string{
			"bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
			"text NOT NULL UNIQUE",
			"bytea NOT NULL",
			"timestamptz NOT NULL DEFAULT clock_timestamp()",
			"timestamptz",
			"text",
		}
	case MySQL:
		types = []string{
			"BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY",
			"VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL UNIQUE", // a uuid may be any name, in any case
			"MEDIUMBLOB NOT NULL",
			"DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6))",
			"DATETIME(6) NULL",
			"TEXT CHARACTER SET utf8mb4 NULL",
		}
	case SQLite:
		types = []string{
			"INTEGER PRIMARY KEY AUTOINCREMENT", // without the last word an id could name two rows, one after the other
			"TEXT NOT NULL UNIQUE",
			"BLOB NOT NULL",
			"TEXT NOT NULL DEFAULT (" + d.now() + ")",
			"TEXT",
			"TEXT",
			"TEXT",
			"TEXT",
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (", t.quoted())
	for i, name := range t.names() {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n\t%s %s", d.quote(name), types[i])
	}
	if d == MySQL {
		// A table of an engine without transactions would keep rows that were rolled back.
		fmt.Fprintf(&b, ",\n\tINDEX %s (%s, %s)\n) ENGINE=InnoDB", d.quote(t.beside("_pending")), d.quote(t.Columns.DeadAt), d.quote(t.Columns.ID))
		return b.String()
	}
	b.WriteString("\n)")
	return b.String()
}

// createRest are the statements that follow: indexes, and the trigger by which PostgreSQL wakes relays, whoever inserts.
func (t Table) createRest() []string {
	d := t.Dialect
	if d == MySQL {
		return nil
	}
	schema, table := t.split()
	pending, dead, on := d.quote(t.beside("_pending")), d.quote(t.beside("_dead")), t.quoted()
	if d == SQLite { // where the schema goes before the index
		pending, dead, on = t.in(schema, t.beside("_pending")), t.in(schema, t.beside("_dead")), d.quote(table)
	}
	id, deadAt := d.quote(t.Columns.ID), d.quote(t.Columns.DeadAt)
	rest := []string{
		fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s ON %s (%s) WHERE %s IS NULL", pending, on, id, deadAt),
		fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s ON %s (%s) WHERE %s IS NOT NULL", dead, on, id, deadAt),
	}
	if d == SQLite || t.Silent {
		return rest
	}
	function := t.in(schema, t.beside("_notify"))
	return append(rest,
		fmt.Sprintf("CREATE OR REPLACE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS %s", function,
			text("BEGIN\n\tPERFORM pg_catalog.pg_notify("+text(t.Channel())+", '');\n\tRETURN NULL;\nEND")),
		fmt.Sprintf("CREATE OR REPLACE TRIGGER %s AFTER INSERT ON %s FOR EACH STATEMENT EXECUTE FUNCTION %s()",
			d.quote(t.beside("_notify")), t.quoted(), function),
	)
}

// text is a literal of PostgreSQL, whatever its setting of standard_conforming_strings.
func text(s string) string {
	if strings.Contains(s, `\`) {
		return `E'` + strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(s) + `'`
	}
	return `'` + strings.ReplaceAll(s, `'`, `''`) + `'`
}
