package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// journalFile is what a journal needs of *os.File. Tests put failing disks behind it.
type journalFile interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Seek(offset int64, whence int) (int64, error)
	Stat() (os.FileInfo, error)
	Close() error
}

// journal is the open file that a host appends to. The host's mutex guards it, except for flush.
//
// A failed append leaves the journal broken: the bytes on disk end in a record that was never acknowledged and
// that replay cuts off as a torn tail, so nothing may follow it.
type journal struct {
	path string
	file journalFile

	size     int64 // bytes that hold whole records
	appended int64 // bytes of them that came after the snapshot at the head
	unsynced bool
}

// append writes a record before its command is answered. It does not wait for the disk: flush does, each second.
func (j *journal) append(r *record) error {
	frame := r.frame()
	if len(frame) > maxPayload {
		return fmt.Errorf("write %s: one command changes %d bytes, more than a record may hold", j.path, len(frame))
	}
	if _, err := j.file.Write(frame); err != nil {
		// Cutting the half-written record off now saves the next opening the search for it. When even that
		// fails, the opening does it.
		_ = j.file.Truncate(j.size)
		return journalError("write", j.path, err)
	}
	j.size += int64(len(frame))
	j.appended += int64(len(frame))
	j.unsynced = true
	return nil
}

// flush makes everything appended so far survive a power failure. It returns the file to sync, so that the
// caller may wait for the disk without the host's mutex; nil when there is nothing to do.
func (j *journal) flush() journalFile {
	if !j.unsynced {
		return nil
	}
	j.unsynced = false
	return j.file
}

func (j *journal) close() error {
	return errors.Join(journalError("sync", j.path, j.file.Sync()), journalError("close", j.path, j.file.Close()))
}

// replaced reports whether the file at the journal's path is no longer the one that is open: somebody removed
// or exchanged the store's directory under a running host.
func (j *journal) replaced() bool {
	opened, err := j.file.Stat()
	if err != nil {
		return true
	}
	named, err := os.Stat(j.path)
	return err != nil || !os.SameFile(opened, named)
}

// journalError names what was done to which file. The path in an *os.PathError is left out: that of a compacted
// journal still has the name under which it was made.
func journalError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s %s: %w", op, path, err)
}

// syncDir makes a rename in dir survive a power failure. Some systems cannot sync a directory and need not.
func syncDir(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}

// createJournal writes a new journal through fill into a file beside path and puts it in path's place, so that
// at any instant path is either the old journal or the whole new one.
func createJournal(path string, wrap func(*os.File) journalFile, fill func(io.Writer) error) (_ *journal, err error) {
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	file := wrap(f)
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(temp)
		}
	}()
	if _, err := io.WriteString(file, journalHeader); err != nil {
		return nil, journalError("write", temp, err)
	}
	if err := fill(file); err != nil {
		return nil, journalError("write", temp, err)
	}
	if err := file.Sync(); err != nil {
		return nil, journalError("sync", temp, err)
	}
	size, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, journalError("write", temp, err)
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, err
	}
	syncDir(filepath.Dir(path))
	return &journal{path: path, file: file, size: size}, nil
}
