// Package sqldb opens the databases that outboxes are kept in, by addresses as people write them. It is where the drivers are
// linked in: pgx for PostgreSQL, go-sql-driver for MySQL and MariaDB, modernc.org's for SQLite, which needs no C.
//
// Nothing that it says of a database shows a password.
package sqldb
