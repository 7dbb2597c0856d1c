// Package outbox has jobs commit together with the rows that they are about.
//
// A program that writes a row and adds a job for it speaks to two systems, and can die, or lose one of them, in between. If it adds
// the job after its commit, jobs get lost. If it adds it before, jobs run whose row is not there yet, or never will be. So
// the job is written as well: into a table of the same database, by the same transaction. That takes nine steps, of which a
// Scheduler does those that are not the program's own:
//
//  1. Begin a transaction.
//  2. Write the row, and learn its id.
//  3. Make the job, which carries the id, and keep it: [Scheduler.AddJob].
//  4. Write it into the outbox: [Scheduler.CreatePendingJobs].
//  5. Commit. From here on there are both row and job, or neither.
//  6. Unless the commit succeeded, stop: nothing is to be pushed, and the Scheduler is thrown away.
//  7. Push the job to the queue: [Scheduler.PushJobsWithClient], or [Scheduler.PushJobs] inside a running job.
//  8. Unless the push succeeded, stop: the job's row stays, and a relay pushes it.
//  9. Delete the row: [Scheduler.DeletePendingJobs].
//
// One call does the last three: [Scheduler.PushJobsWithClientAndDeletePendingJobs]. Its error is for a log and not for the user: what
// was committed is not lost.
//
// Steps 7 to 9 are only the short way. A [Relay], which the command waybill outbox relay is too, does the same for every row that stayed
// behind, whoever died and wherever, and any number of relays may do so side by side. A program can end with step 5 and leave the rest to relays, which PostgreSQL tells of new
// rows at once. So can one in another language: a row is the uuid and the bytes of a marshalled wire.Job, and the table fills in the rest.
//
// # What is promised
//
//   - A job whose transaction was committed reaches the queue, however long queue, database or relays are away in the meantime.
//   - A job whose transaction was rolled back never does, nor does any before its commit.
//   - A job that is pushed twice is one job. The queue knows it by its uuid: while it lives, and after its end for as long as ended
//     jobs are kept. That is seven days, and the latest 100,000 of a queue, unless the queue's settings or the job's remove_after
//     say otherwise. A queue of many short jobs whose rows may wait for a relay for hours should keep more, see
//     conveyor.QueueSettings.
//   - A row that cannot become a job, since it is damaged or the queue refuses it for good, stays in the table as a dead letter, with
//     the reason, and holds up none of its neighbours.
//
// # What is not
//
//   - That a handler runs once. A worker that dies is followed by another one, here as for any other job.
//   - An order among transactions. Rows are pushed in the order of their ids, and transactions commit in another.
//   - Anything about step 6. A Scheduler cannot know whether its transaction was committed. When the connection breaks during the
//     commit, nobody knows: push nothing then, a relay will if there is a row.
//   - That Redis keeps what it acknowledged. One that does not write to disk, or fails over to a replica that lags, can
//     forget jobs whose rows are gone.
//
// # Databases
//
// The package speaks database/sql and imports no driver: a DB is a *sql.DB, *sql.Tx, *sql.Conn, or anything else with their
// ExecContext and QueryContext. In a transaction of GORM that is tx.Statement.ConnPool; a pool of pgx becomes a *sql.DB by OpenDBFromPool of its
// package stdlib. [Table] names the table and its dialect: PostgreSQL, MySQL and MariaDB, or SQLite. [Table.Migrate] makes it,
// and [Table.Schema] tells a migration tool how.
//
// On MySQL the DELETE of step 9 can meet a relay that has just taken the same rows, and one of the two is told of a deadlock. Both try again; an
// error that is left can be ignored like any other of that step.
//
// The package begins, commits and rolls back no transaction of the caller's.
package outbox
