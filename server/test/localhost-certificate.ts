/**
 * A certificate for the name localhost that nobody has signed, with its key, for tests of TLS. Nothing trusts it but the test that uses it.
 * Made by `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=localhost -addext
 * subjectAltName=DNS:localhost`; it is valid for a hundred years.
 */
export const localhostKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSeEjqLD2sc5Xai5s
u/+8Sg19C2rGO6KTE+fm6MSoa6WhRANCAARISn/B+jLUlxIJEWmsdMbcbv+DuPtB
+IiUIi5nfBkGH6ym17fHSPBQ6BZuRBuPovyR8yC1UQkEym+63c9ocFBP
-----END PRIVATE KEY-----`

export const localhostCertificate = `-----BEGIN CERTIFICATE-----
MIIBljCCATugAwIBAgIUcYy5bjsk6nE+0OwSTpaIyOA3ApgwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyODEzNDExMloYDzIxMjYxMTA0
MTM0MTEyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARISn/B+jLUlxIJEWmsdMbcbv+DuPtB+IiUIi5nfBkGH6ym17fHSPBQ
6BZuRBuPovyR8yC1UQkEym+63c9ocFBPo2kwZzAdBgNVHQ4EFgQUGuw04J6aP0RK
RfG42LCzhYj79wwwHwYDVR0jBBgwFoAUGuw04J6aP0RKRfG42LCzhYj79wwwDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SQAwRgIhAM6BDJNv+6eP5vVflyNITUxhyGunFcB6kR+tp1nh5UXxAiEAm3ABxQKd
QkuqShwQXdjsXtnUJdjBU+5pvTAyqra2neY=
-----END CERTIFICATE-----`
