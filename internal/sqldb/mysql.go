package sqldb

import (
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/waybill-dev/waybill/conveyor/outbox"
)

// parseMySQLURL reads mysql://user:password@host:port/database?parameters, which the driver does not. The parameters are the driver's.
func parseMySQLURL(address string) (*Database, error) {
	u, err := url.Parse(address)
	if err != nil || strayAt(address) {
		return nil, fmt.Errorf("%w: %s", ErrAddress, invalidURL)
	}
	config, err := mysql.ParseDSN("/" + "?" + u.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAddress, redact(err, urlSecrets(address)))
	}
	if u.User != nil {
		config.User = u.User.Username()
		config.Passwd, _ = u.User.Password()
	}
	if u.Host != "" {
		config.Net, config.Addr = "tcp", u.Host
		if u.Port() == "" {
			config.Addr = net.JoinHostPort(u.Hostname(), "3306")
		}
	}
	config.DBName = strings.TrimPrefix(u.Path, "/")
	return openMySQL(config, urlSecrets(address))
}

// parseMySQL reads the driver's own form, user:password@tcp(host:port)/database?parameters.
func parseMySQL(address string) (*Database, error) {
	config, err := mysql.ParseDSN(address)
	if err != nil {
		return nil, fmt.Errorf("%w: it is neither a URL nor of the form user:password@tcp(host:port)/database", ErrAddress)
	}
	return openMySQL(config, nil)
}

func openMySQL(config *mysql.Config, secrets []string) (*Database, error) {
	config.Logger = &mysql.NopLogger{} // the driver's errors come back to whoever called, and not to stderr as well
	if config.DBName == "" {
		return nil, fmt.Errorf("%w: it does not say which database of the server is meant, as in mysql://user:password@host/shop", ErrAddress)
	}
	if config.Timeout == 0 {
		config.Timeout = dialTimeout
	}
	config.InterpolateParams = true // which saves preparing each statement
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAddress, redact(err, append(secrets, config.Passwd)))
	}
	host, port := config.Addr, uint16(0)
	if h, p, err := net.SplitHostPort(config.Addr); err == nil && config.Net == "tcp" {
		n, _ := strconv.ParseUint(p, 10, 16) // the driver says what is wrong with it
		host, port = h, uint16(n)
	}
	return &Database{
		DB: sql.OpenDB(connector), Dialect: outbox.MySQL, Name: named("mysql", config.User, host, port, 3306, config.DBName),
		secrets: append(secrets, config.Passwd),
	}, nil
}
