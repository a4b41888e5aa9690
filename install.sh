#!/bin/sh
# Installs Switchboard for Claude Code: the program, the /switchboard skill, and the registration.
#
#   ./install.sh [options]                     from a clone or an unpacked package
#   curl -fsSL <url of this file> | sh         from anywhere; add options with: sh -s -- [options]
#
# Accepts the options of `switchboard skill install`. Safe to run again.
set -eu

say() { printf '%s\n' "$*"; }

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '%s\n' "$line" >&2; done
  exit 1
}

usage() {
  cat <<'END'
Usage: install.sh [options]

Install Switchboard for Claude Code: the program, the /switchboard skill, and the
registration as an MCP server. Inside a clone, the program is built if necessary and
used from there; otherwise it's installed globally with npm.

Options:
  --no-register  don't register Switchboard with Claude Code
  --dry-run      show what would change
  --json         print JSON
  -h, --help     show this help

Requires Node 20.19 or later and npm. Safe to run again.
END
}

need_node() {
  command -v node >/dev/null 2>&1 ||
    fail 'Node is not installed.' 'Switchboard requires Node 20.19 or later: https://nodejs.org'
  node -e 'const [a, b] = process.versions.node.split(".").map(Number);
    process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    fail "Node $(node --version) is too old." 'Switchboard requires Node 20.19 or later: https://nodejs.org'
}

need_npm() {
  command -v npm >/dev/null 2>&1 ||
    fail 'npm is not installed.' 'It comes with Node: https://nodejs.org'
}

# The folder of this script, unless the script is piped into a shell.
own_folder() {
  [ "$(basename -- "$0")" = install.sh ] || return 1
  folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P) || return 1
  grep -q '"name": "switchboard"' "$folder/package.json" 2>/dev/null || return 1
  printf '%s' "$folder"
}

build() {
  need_npm
  say 'Building Switchboard …' >&2
  (
    cd "$1"
    [ -d node_modules ] || npm ci
    npm run build
  ) >&2 || fail 'The build failed.' 'See the npm output above.'
}

install_globally() {
  need_npm
  say 'Installing Switchboard with npm …' >&2
  npm install -g switchboard >&2 ||
    fail 'npm could not install Switchboard globally.' \
      'If this is a permission problem, point npm to a folder you own and try again:' \
      '  npm config set prefix ~/.local'
}

main() {
  for option in "$@"; do
    case $option in
      -h | --help)
        usage
        return 0
        ;;
    esac
  done
  need_node
  if folder=$(own_folder); then
    [ -f "$folder/dist/index.js" ] || build "$folder"
    node "$folder/dist/index.js" skill install "$@"
    return
  fi
  install_globally
  program="$(npm prefix -g)/bin/switchboard"
  [ -x "$program" ] || program=switchboard
  "$program" skill install "$@"
}

# On the last line, so that a truncated download does nothing.
main "$@"
