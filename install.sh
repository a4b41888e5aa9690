#!/bin/sh
# Installs Switchboard for Claude Code: the program, the skill /switchboard, and the registration.
#
#   ./install.sh [options]                     from a clone or an unpacked package
#   curl -fsSL <address of this file> | sh     from anywhere; options after: sh -s --
#
# The options are those of `switchboard skill install`. Running it again is safe.
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

Installs Switchboard for Claude Code: the program, the skill /switchboard, and its
registration as an MCP server. Inside a clone the program is built if need be and
used where it is; elsewhere it is installed by npm, globally.

Options:
  --no-register  leave Claude Code's list of servers alone
  --dry-run      only say what the skill's installation would do
  --json         print JSON
  -h, --help     show this help

Needs Node 20.19 or later, with npm. Running it again is safe.
END
}

need_node() {
  command -v node >/dev/null 2>&1 ||
    fail 'Node is not installed.' 'Switchboard needs Node 20.19 or later: https://nodejs.org'
  node -e 'const [a, b] = process.versions.node.split(".").map(Number);
    process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    fail "Node $(node --version) is too old." 'Switchboard needs Node 20.19 or later: https://nodejs.org'
}

need_npm() {
  command -v npm >/dev/null 2>&1 ||
    fail 'npm is not installed.' 'It usually comes with Node: https://nodejs.org'
}

# The folder of this script, where that is a file of Switchboard and not the input of a shell.
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
  ) >&2 || fail 'The build failed.' 'What npm printed above says why.'
}

install_globally() {
  need_npm
  say 'Installing Switchboard by npm …' >&2
  npm install -g switchboard >&2 ||
    fail 'npm could not install it globally.' \
      'If it was a matter of permissions, give npm a folder of your own, then try again:' \
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

# On the last line, so that a download that was cut off does nothing.
main "$@"
