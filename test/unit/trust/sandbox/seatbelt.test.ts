import { expect, test } from 'vitest';
import { createRules } from '../../../../src/trust/sandbox/rules.ts';
import { seatbeltProfile } from '../../../../src/trust/sandbox/seatbelt.ts';
import { sandboxFolders, sandboxSettings } from './places.ts';

test('the profile opens the project and caches, and hides secrets', () => {
  const folders = sandboxFolders([], { system: 'darwin' });
  const sandbox = sandboxSettings({ allowRead: ['~/.ssh/known_hosts'], denyWrite: ['docs'] });
  const rules = createRules(sandbox, folders).filter(({ path }) => path.startsWith(folders.root));
  expect(folders.plain(seatbeltProfile({ rules, network: 'on' }))).toMatchInlineSnapshot(`
    "(version 1)
    (allow default)
    (deny file-write*)
    (allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper") (regex #"^/dev/fd/") (regex #"^/dev/ttys"))
    (allow file-read* network-outbound (subpath "<root>/home"))
    (deny file-write* (subpath "<root>/home"))
    (allow file-read* file-write* network-outbound (subpath "<root>/home/work"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.ssh"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.aws"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.gnupg"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.netrc"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.kube"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.docker"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.codex"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.mozilla"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.librewolf"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.zen"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.switchboard"))
    (deny file-read* file-write* network-outbound (regex #"^<root>/home/\\.claude"))
    (allow file-read* file-write* network-outbound (subpath "<root>/home/.cache"))
    (allow file-read* file-write* network-outbound (subpath "<root>/home/.npm"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/snap/firefox"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/snap/chromium"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.config/gh"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.config/google-chrome"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.config/google-chrome-beta"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.config/google-chrome-unstable"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.config/chromium"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.config/BraveSoftware"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.config/microsoft-edge"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.config/vivaldi"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.config/opera"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Safari"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Cookies"))
    (allow file-read* file-write* network-outbound (subpath "<root>/home/.yarn/berry"))
    (allow file-read* file-write* network-outbound (subpath "<root>/home/Library/Caches"))
    (allow file-read* network-outbound (subpath "<root>/home/work/docs"))
    (deny file-write* (subpath "<root>/home/work/docs"))
    (allow file-read* network-outbound (subpath "<root>/home/work/.mcp.json"))
    (deny file-write* (subpath "<root>/home/work/.mcp.json"))
    (allow file-read* network-outbound (subpath "<root>/home/work/.switchboard"))
    (deny file-write* (subpath "<root>/home/work/.switchboard"))
    (allow file-read* network-outbound (subpath "<root>/home/work/mcps"))
    (deny file-write* (subpath "<root>/home/work/mcps"))
    (allow file-read* network-outbound (subpath "<root>/home/work/switchboard.config.json"))
    (deny file-write* (subpath "<root>/home/work/switchboard.config.json"))
    (allow file-read* network-outbound (subpath "<root>/home/work/switchboard.config.jsonc"))
    (deny file-write* (subpath "<root>/home/work/switchboard.config.jsonc"))
    (allow file-read* network-outbound (subpath "<root>/home/work/switchboard.config.js"))
    (deny file-write* (subpath "<root>/home/work/switchboard.config.js"))
    (allow file-read* network-outbound (subpath "<root>/home/work/switchboard.config.cjs"))
    (deny file-write* (subpath "<root>/home/work/switchboard.config.cjs"))
    (allow file-read* network-outbound (subpath "<root>/home/work/switchboard.config.mjs"))
    (deny file-write* (subpath "<root>/home/work/switchboard.config.mjs"))
    (allow file-read* network-outbound (subpath "<root>/home/.ssh/known_hosts"))
    (deny file-write* (subpath "<root>/home/.ssh/known_hosts"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.var/app/org.mozilla.firefox"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.var/app/org.chromium.Chromium"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.var/app/com.google.Chrome"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.var/app/com.brave.Browser"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/.var/app/com.microsoft.Edge"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Application Support/Chromium"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Application Support/Firefox"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Application Support/BraveSoftware"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Application Support/Microsoft Edge"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Application Support/Vivaldi"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Application Support/Arc"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Application Support/com.operasoftware.Opera"))
    (allow file-read* file-write* network-outbound (subpath "<root>/home/.bun/install/cache"))
    (allow file-read* file-write* network-outbound (subpath "<root>/home/.local/share/uv"))
    (allow file-read* file-write* network-outbound (subpath "<root>/home/.local/share/pipx"))
    (allow file-read* file-write* network-outbound (subpath "<root>/home/.local/share/pnpm"))
    (allow file-read* network-outbound (subpath "<root>/home/work/.git/config"))
    (deny file-write* (subpath "<root>/home/work/.git/config"))
    (allow file-read* network-outbound (subpath "<root>/home/work/.git/hooks"))
    (deny file-write* (subpath "<root>/home/work/.git/hooks"))
    (deny file-read* file-write* network-outbound (subpath "<root>/home/Library/Application Support/Google/Chrome"))
    "
  `);
});

test('without a network, no rule opens it again', () => {
  const rules = [{ path: '/data', access: 'read' }] as const;
  expect(seatbeltProfile({ rules, network: 'off' })).toMatchInlineSnapshot(`
    "(version 1)
    (allow default)
    (deny file-write*)
    (allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper") (regex #"^/dev/fd/") (regex #"^/dev/ttys"))
    (deny network*)
    (allow file-read* (subpath "/data"))
    (deny file-write* (subpath "/data"))
    "
  `);
});

test('paths are quoted', () => {
  const rules = [
    { path: '/a "b" \\c', access: 'write' },
    { path: '/d(e).f', access: 'hidden', isPrefix: true },
  ] as const;
  const lines = seatbeltProfile({ rules, network: 'off' }).split('\n');
  expect(lines).toContain(String.raw`(allow file-read* file-write* (subpath "/a \"b\" \\c"))`);
  expect(lines).toContain(
    String.raw`(deny file-read* file-write* network-outbound (regex #"^/d\(e\)\.f"))`,
  );
});
