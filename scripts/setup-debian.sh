#!/usr/bin/env bash
# Installs the Debian packages that some tests need:
#
#   npm run test:sandbox   bubblewrap
#   npm test               openssl, for certificates
#   npm run test:all       shellcheck, for the shell scripts
#
# Packages that are already installed are skipped. On systems without apt, it says what to install.
set -euo pipefail

packages=()
command -v bwrap >/dev/null || packages+=(bubblewrap)
command -v openssl >/dev/null || packages+=(openssl)
command -v shellcheck >/dev/null || packages+=(shellcheck)

as_root() {
  if ((EUID == 0)); then "$@"; else sudo --non-interactive "$@"; fi
}

if ((${#packages[@]} > 0)); then
  if ! command -v apt-get >/dev/null; then
    printf 'This system has no apt-get. Install these packages another way: %s\n' "${packages[*]}" >&2
    exit 1
  fi
  as_root apt-get update --quiet
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "${packages[@]}"
fi

# Ubuntu lets only programs with a profile create user namespaces.
restriction=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
profile=/etc/apparmor.d/bwrap
if [[ -r $restriction && $(<"$restriction") == 1 && ! -e $profile ]]; then
  as_root tee "$profile" >/dev/null <<'PROFILE'
abi <abi/4.0>,
include <tunables/global>

profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
}
PROFILE
  as_root apparmor_parser --replace "$profile"
fi
