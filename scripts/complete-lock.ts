// Completes package-lock.json, in the project and in conformance/. Tools such as Biome ship one package per
// platform and list all of them as optional. If a registry doesn't have the packages of every platform, `npm
// install` leaves them out of the lock, and `npm ci` then refuses it as out of sync. Run this after `npm install`
// if the lock test says so: it adds the missing entries, without checksums.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface LockedPackage {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

interface Lock {
  packages: Record<string, LockedPackage>;
}

/** Every lock file of the project. */
export const LOCK_FILES = ['../package-lock.json', '../conformance/package-lock.json'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const SYSTEMS = [
  'darwin',
  'win32',
  'linux',
  'android',
  'freebsd',
  'openbsd',
  'netbsd',
  'sunos',
  'aix',
  'openharmony',
];
const PROCESSORS = [
  'arm64',
  'x64',
  'ia32',
  'riscv64',
  's390x',
  'ppc64',
  'loong64',
  'mips64el',
  'wasm32',
  'arm',
];

/** Optional packages that a locked package lists and the lock lacks, with their versions. */
export function findMissing({ packages }: Lock): Map<string, string> {
  const missing = new Map<string, string>();
  for (const [path, { optionalDependencies = {} }] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const isLocked = packages[`${path}/node_modules/${name}`] ?? packages[`node_modules/${name}`];
      if (!isLocked) missing.set(name, range.replace(/^[\^~]/, ''));
    }
  }
  return missing;
}

export function readLock(file: string): Lock {
  return JSON.parse(readFileSync(file, 'utf8')) as Lock;
}

/** The platform of a package, from its name. */
function platformOf(name: string): Partial<LockedPackage> {
  const words = name.replace('windows', 'win32').split(/[/-]/);
  const os = SYSTEMS.find((system) => words.includes(system));
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  const libc = words.includes('musl')
    ? 'musl'
    : os === 'linux' && words.includes('gnu')
      ? 'glibc'
      : undefined;
  return {
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(os === undefined ? {} : { os: [os] }),
    ...(libc === undefined ? {} : { libc: [libc] }),
  };
}

function complete(file: string): void {
  const lock = readLock(file);
  for (const [name, version] of findMissing(lock)) {
    lock.packages[`node_modules/${name}`] = {
      version,
      dev: true,
      optional: true,
      ...platformOf(name),
    };
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) LOCK_FILES.forEach(complete);
