package outbox

import (
	"strconv"
	"strings"
)

// statements are the texts of what is asked of one table. All times in them are the database's: clocks of processes are
// compared with nothing.
type statements struct {
	dialect Dialect
	words   *strings.Replacer
}

// statements checks a table and prepares the parts of its statements.
func (t Table) statements() (*statements, error) {
	t = t.withDefaults()
	if err := t.validate(); err != nil {
		return nil, err
	}
	words := []string{"{table}", t.quoted(), "{now}", t.Dialect.now(), "{age}", t.Dialect.age(t.Dialect.quote(t.Columns.CreatedAt)),
		"{1}", t.Dialect.parameter(1), "{2}", t.Dialect.parameter(2)}
	for i, name := range t.Columns.fields() {
		words = append(words, "{"+columnNames[i]+"}", t.Dialect.quote(*name))
	}
	return &statements{dialect: t.Dialect, words: strings.NewReplacer(words...)}, nil
}

// text puts a table's own words into a statement: {table}, {now}, {age}, {1} and {2} for parameters, and the default name of each
// column. The names that are put in are not looked at again.
func (s *statements) text(parts ...string) string { return s.words.Replace(strings.Join(parts, "")) }

// parameters are n placeholders from the first on, with commas between them.
func (s *statements) parameters(first, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(s.dialect.parameter(first + i))
	}
	return b.String()
}

// insert writes n rows; its parameters are the uuid and the job of each in turn.
func (s *statements) insert(n int) string {
	var b strings.Builder
	b.WriteString(s.text("INSERT INTO {table} ({uuid}, {job}) VALUES "))
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("(" + s.parameters(2*i+1, 2) + ")")
	}
	return b.String()
}

// maxInsert is how many rows one insert may write.
func (s *statements) maxInsert() int { return s.dialect.maxParameters() / 2 }

// deleteUUIDs removes rows by the uuids of n jobs. MySQL would rather read all rows of a short table, and so wait for whoever has
// written or locked any of them.
func (s *statements) deleteUUIDs(n int) string {
	which := s.text(" WHERE {uuid} IN (", s.parameters(1, n), ")")
	if s.dialect == MySQL {
		return s.text("DELETE o FROM {table} AS o FORCE INDEX ({uuid})") + which
	}
	return s.text("DELETE FROM {table}") + which
}

// revive makes pending rows of dead letters again: those of n uuids, or of all for n = 0.
func (s *statements) revive(n int) string {
	which := ""
	if n > 0 {
		which = " AND {uuid} IN (" + s.parameters(1, n) + ")"
	}
	return s.text("UPDATE {table} SET {dead_at} = NULL, {reason} = NULL WHERE {dead_at} IS NOT NULL", which)
}

// count answers with the number of rows that are pending, or dead.
func (s *statements) count(dead bool) string {
	return s.text("SELECT count(*) FROM {table} WHERE {dead_at}", is(dead))
}

// countUpTo is count that goes no further than n rows.
func (s *statements) countUpTo(dead bool, n int) string {
	return s.text("SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {dead_at}", is(dead), " LIMIT ", strconv.Itoa(n), ") AS counted")
}

// oldest answers with the age in microseconds of the first row in line, or with no row.
func (s *statements) oldest() string {
	return s.text("SELECT {age} FROM {table} WHERE {dead_at} IS NULL ORDER BY {id} LIMIT 1")
}

// list reads id, uuid, job, age in microseconds and reason of n rows in the order of their ids, after the id that is its only
// parameter.
func (s *statements) list(dead bool, n int) string {
	return s.text("SELECT {id}, {uuid}, {job}, {age}, {reason} FROM {table} WHERE {dead_at}", is(dead), " AND {id} > {1} ORDER BY {id} LIMIT ", strconv.Itoa(n))
}

// is completes a condition on dead_at.
func is(dead bool) string {
	if dead {
		return " IS NOT NULL"
	}
	return " IS NULL"
}
