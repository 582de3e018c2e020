#!/bin/sh
# Installs the programs that the tests start and this machine lacks. On Debian and Ubuntu it says which packages it
# installs, and runs apt-get as root or through sudo. Elsewhere it names all packages that are missing, and exits with 1.
set -eu

# One a line: the Debian package, and the program or file that shows that it is there.
packages='
age age-keygen
aide aide
apt apt-get
bash bash
caddy caddy
ceph-base monmaptool
ceph-mon ceph-mon
ceph-osd ceph-osd
chromium-headless-shell chromium-headless-shell
clang clang
curl curl
dpkg dpkg-deb
gcc cc
git git
gnupg gpg
gpgv gpgv
inotify-tools inotifywait
iproute2 ip
jq jq
kubernetes-client kubectl
libc6-dev /usr/include/stdio.h
libssl-dev /usr/include/openssl/sha.h
lld wasm-ld
mount mount
nginx-light nginx
nmap nmap
openssh-client ssh
openssl openssl
poppler-utils pdftotext
postgresql /usr/lib/postgresql/*/bin/postgres
postgresql-client psql
python3 python3
qpdf qpdf
radosgw radosgw
s3cmd s3cmd
skopeo skopeo
sqlite3 sqlite3
ssh-audit ssh-audit
systemd systemd-analyze
unzip unzip
util-linux setpriv
xz-utils xz
zip zip
'

is_there() {
  case $1 in
    /*) for file in $1; do [ ! -e "$file" ] || return 0; done; return 1 ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

has_fuzzer() {
  is_there clang && is_there "$(clang -print-resource-dir)/lib/linux/libclang_rt.fuzzer-*.a"
}

# The package of libFuzzer has the version of clang in its name.
fuzzer_package() {
  version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
  echo "libclang-rt-${version:-14}-dev"
}

missing=$(echo "$packages" | while read -r package shown; do
  [ -z "$package" ] || is_there "$shown" || printf '%s ' "$package"
done)
if [ -z "$missing" ] && has_fuzzer; then exit 0; fi

fail() {
  printf '%s\n' "$@" 'npm run test:unit needs none of these programs.' >&2
  exit 1
}

needs='The tests need programs that this machine lacks'
has_fuzzer || missing="$missing$(fuzzer_package)"
if ! is_there apt-get; then
  fail "$needs. Debian has them in these packages: $missing" \
    "Install them with this system's package manager, or run the tests on Debian or Ubuntu."
fi
if [ "$(id -u)" = 0 ]; then as_root=; else as_root=sudo; fi
if [ -n "$as_root" ] && ! is_there sudo; then
  fail "$needs, and there is no sudo. Install them as root:" \
    "apt-get update && apt-get install --no-install-recommends $missing"
fi

echo "$needs. Installing with apt-get${as_root:+ through sudo}: $missing"
# Tests start clusters of their own: the package of PostgreSQL is to make none.
$as_root mkdir -p /etc/postgresql-common/createcluster.d
echo 'create_main_cluster = false' | $as_root tee /etc/postgresql-common/createcluster.d/tests.conf >/dev/null
$as_root apt-get update -qq
has_fuzzer || missing="${missing% *} $(fuzzer_package)"
# shellcheck disable=SC2086 # The names of packages are words of their own.
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
