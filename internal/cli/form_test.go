package cli_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-dev/waybill/internal/cli"
	"github.com/waybill-dev/waybill/internal/redistest"
)

// TestForms tells one story in a Cluster, at Sentinels and behind TLS.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, form := range []struct {
		name, kind string
		url        func(t *testing.T) string
	}{
		{"cluster", "Cluster", func(t *testing.T) string { return redistest.StartCluster(t, redistest.ClusterOptions{}).URL() }},
		{"one node of a cluster", "Cluster", func(t *testing.T) string {
			first, _, _ := strings.Cut(redistest.StartCluster(t, redistest.ClusterOptions{}).URL(), "?")
			return first + "?cluster=true"
		}},
		{"sentinel", "Sentinels", func(t *testing.T) string { return redistest.StartSentinels(t, redistest.SentinelOptions{}).URL() }},
		{"tls", "rediss://", func(t *testing.T) string { return startTLS(t).url("tls_ca", "tls_cert", "tls_key") }},
	} {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			tell(t, filepath.Join("testdata", "forms", "form.txtar"), "", "WAYBILL_REDIS="+form.url(t), "KIND="+form.kind)
		})
	}
}

// TestNamespaces tells how one worker serves several namespaces, on one server and in a Cluster, whose nodes they are spread over.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	for _, form := range []struct {
		name string
		url  func(t *testing.T) string
	}{
		{"redis", func(t *testing.T) string { return redistest.StartTCP(t).URL() }},
		{"cluster", func(t *testing.T) string { return redistest.StartCluster(t, redistest.ClusterOptions{}).URL() }},
	} {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			url := form.url(t)
			tell(t, filepath.Join("testdata", "forms", "namespaces.txtar"), "", "WAYBILL_REDIS="+url, "REDIS="+url)
		})
	}
}

// TestWrongForms: what is wrong with an address, or with trust, is said with what to do about it.
func TestWrongForms(t *testing.T) {
	t.Parallel()
	secured, dir := startTLS(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte("workflow \"w\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ url, want string }{
		{"redis://127.0.0.1:1?cluster=perhaps", "cluster is true or false"},
		{"redis://127.0.0.1:1/2?cluster=true", "no databases beside 0"},
		{"redis://127.0.0.1:1?cluster=false&addr=127.0.0.1:2", "addr names more nodes"},
		{"redis://127.0.0.1:1?master_name=", "master_name is the name"},
		{"redis://127.0.0.1:1?master_name=a&cluster=true", "a Cluster has none"},
		{"redis://127.0.0.1:1?tls_ca=f", "tls_ca goes with rediss://"},
		{"rediss://127.0.0.1:1?tls_ca=/nowhere", "tls_ca: open /nowhere"},
		{"rediss://127.0.0.1:1?tls_cert=f", "go together"},
		{secured.url(), "tls_ca=FILE"},
		{secured.url("tls_ca"), "tls_cert=FILE"},
		{secured.url("tls_ca", "tls_cert", "tls_key") + "&tls_server_name=elsewhere", "tls_server_name=NAME"},
	} {
		t.Run(test.want, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			code := cli.Run(cli.Process{
				Args: []string{"plan", "-redis", test.url, dir}, Environ: []string{"HOME=" + t.TempDir()},
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
			})
			if code != 1 || !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(out.String(), "│", "")), " "), test.want) {
				t.Errorf("exit code %d, want 1 and %q:\n%s", code, test.want, out.String())
			}
		})
	}
}

// secured is a Redis behind TLS that wants a certificate of its clients, and the files of one.
type secured struct{ addr, dir string }

// url is its address with these of the parameters.
func (s secured) url(params ...string) string {
	query := url.Values{}
	for _, p := range params {
		query.Set(p, filepath.Join(s.dir, strings.TrimPrefix(p, "tls_")+".pem"))
	}
	if len(query) == 0 {
		return "rediss://" + s.addr
	}
	return "rediss://" + s.addr + "?" + query.Encode()
}

func startTLS(t *testing.T, args ...string) secured {
	t.Helper()
	s := secured{dir: t.TempDir()}
	file := func(name string) string { return filepath.Join(s.dir, name) }
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "waybill test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem": {Type: "CERTIFICATE", Bytes: cert}, "cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "EC PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file(name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	_, port, _ := net.SplitHostPort(s.addr)
	_ = l.Close()
	redistest.StartTCP(t, append(args, "--tls-port", port, "--tls-cert-file", file("cert.pem"), "--tls-key-file", file("key.pem"), "--tls-ca-cert-file", file("ca.pem"))...)
	return s
}
