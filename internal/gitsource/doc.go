// Package gitsource knows Git: which commit a directory's files are of, and, as a source of the controller, the newest commit of a
// branch of a remote. It runs no program, but for remotes on this machine, which are read by git-upload-pack.
package gitsource
