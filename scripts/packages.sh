# Sourced by the scripts beside it: installs the Debian or Ubuntu packages that are missing.
# shellcheck shell=sh

# What a build links. Each line: what proves that it is there, and the package that brings it.
build_needs="
command:pkg-config pkg-config
/usr/include/uv.h libuv1-dev
/usr/include/yaml.h libyaml-dev
/usr/include/http_parser.h libhttp-parser-dev
/usr/include/jansson.h libjansson-dev
"

# What the tests run and link beyond that: the daemons of examples/02-webstack and their clients.
test_needs="
command:pg_lsclusters postgresql
command:psql postgresql-client
command:redis-server redis-server
command:nginx nginx-light
command:curl curl
command:setpriv util-linux
command:ps procps
/usr/bin/zsh zsh
/usr/bin/fish fish
/usr/include/postgresql/libpq-fe.h libpq-dev
/usr/include/hiredis/hiredis.h libhiredis-dev
"

# Whether $1 can be run; the daemons live where an ordinary user's PATH does not look.
is_command() {
    PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1
}

# Prints the packages of the list $1 whose proof is missing.
missing_packages() {
    printf '%s\n' "$1" | while read -r proof package; do
        case "$proof" in
            "") ;;
            command:*) is_command "${proof#command:}" || printf '%s ' "$package" ;;
            *) [ -e "$proof" ] || printf '%s ' "$package" ;;
        esac
    done
}

# Installs the packages of the list $1 that are missing, without starting the daemons they bring.
install_missing() {
    packages=$(missing_packages "$1")
    [ -n "$packages" ] || return 0
    if [ "$(id -u)" -eq 0 ]; then
        as_root=""
    elif command -v sudo >/dev/null 2>&1; then
        as_root="sudo"
    else
        echo "cannot install packages: neither root nor sudo; as root, run:" >&2
        echo "apt-get install $packages" >&2
        return 69
    fi
    echo "installing $packages"
    # The helper runs as root as a whole, so that the policy is put back even on an interrupt.
    # shellcheck disable=SC2086
    $as_root sh "$PWD/scripts/install-quietly" $packages
}
