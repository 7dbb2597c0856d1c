package sqltest

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What every test says on a machine without a server. Tests fail with it and never skip.
var (
	errNoPostgreSQL = errors.New("PostgreSQL's server is not installed: run `make test`, which installs it, or apt-get install postgresql")
	errNoMariaDB    = errors.New("MariaDB's server is not installed: run `make test`, which installs it, or apt-get install mariadb-server-core")
)

// Where packages keep servers that are not on PATH: Debian, Fedora, Homebrew on either processor, MacPorts.
var (
	postgresFolders = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin", "/opt/local/lib/postgresql*/bin"}
	mariadbFolders = []string{"/usr/sbin", "/usr/libexec", "/opt/homebrew/opt/mariadb*/bin", "/usr/local/opt/mariadb*/bin", "/opt/local/lib/mariadb*/bin"}
)

// findPostgres finds the two programs that a server is made with, of one version: the newest there is.
func findPostgres() (initdb, postgres string, err error) {
	if postgres = find("postgres", postgresFolders); postgres == "" {
		return "", "", errNoPostgreSQL
	}
	initdb = filepath.Join(filepath.Dir(postgres), "initdb")
	if _, err := exec.LookPath(initdb); err != nil {
		return "", "", errNoPostgreSQL
	}
	return initdb, postgres, nil
}

func findMariaDB() (string, error) {
	if path := find("mariadbd", mariadbFolders); path != "" {
		return path, nil
	}
	return "", errNoMariaDB
}

// find looks for a program in the folders, the newest version first, and then on PATH.
func find(name string, folders []string) string {
	for _, pattern := range folders {
		paths, _ := filepath.Glob(filepath.Join(pattern, name)) // the patterns are sound
		slices.SortFunc(paths, func(a, b string) int { return compareVersions(b, a) })
		for _, path := range paths {
			if _, err := exec.LookPath(path); err == nil {
				return path
			}
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real // what belongs to it stands beside it
	}
	return path
}

// compareVersions orders two paths by the first number in them that differs, and those without any by their text.
func compareVersions(a, b string) int {
	as, bs := numbers(a), numbers(b)
	if c := slices.Compare(as, bs); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func numbers(path string) []int {
	var ns []int
	for _, field := range strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(field); err == nil {
			ns = append(ns, n)
		}
	}
	return ns
}
