// Package task is a contract of tasks that are described by labels alone: Create, Delete, Exists, Expire, Extend, Lister, Search,
// Ticker and Cycles, and workers with Filter and Ensure. [New] makes an [Engine] of a conveyor.Client.
//
// It is a thin layer: a task is a job without payload, its metadata are the job's labels, and all that happens to it the engine of
// package conveyor does. So tasks and other jobs live side by side, and everything else of the client works on tasks too. It is a
// package of its own since its words (Task, Worker, Engine) mean other things there, and to show that it needs nothing but what the
// client offers to everybody. It has no goroutines and no state but the numbers of its calls.
package task
