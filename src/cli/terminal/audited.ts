// Records in the audit log what the user decides with a command.
import { SwitchboardError } from '../../base/errors.ts';
import { Audit } from '../../calls/audit.ts';
import type { Config } from '../../config/config.ts';
import { findConfigFile, readConfigFile } from '../../config/files/files.ts';
import { findFolders } from '../../config/files/places.ts';
import { checkConfigFile } from '../../config/schema/check.ts';
import { resolveAudit } from '../../config/settings/audit.ts';
import type { AuditSink } from '../../trust/audit/events.ts';
import { workingFolder } from '../working-folder.ts';

const write = (message: string): void => void process.stderr.write(`switchboard: ${message}\n`);
const LOG = { debug() {}, info() {}, warn: write, error: write, child() {} };

/** Without a log if it's off. Its file is created with the first entry. */
export async function withAudit<T>(
  { audit: settings }: Pick<Config, 'audit'>,
  action: (audit: AuditSink | undefined) => Promise<T>,
): Promise<T> {
  if (!settings) return action(undefined);
  await using audit = new Audit(settings, LOG);
  return await action(audit);
}

/** For commands that work without a valid configuration. Only the user's file is read. */
export async function withUsersAudit<T>(
  action: (audit: AuditSink | undefined) => Promise<T>,
): Promise<T> {
  return withAudit(await readAuditSettings(), action);
}

async function readAuditSettings(): Promise<Pick<Config, 'audit'>> {
  const folders = findFolders({ cwd: workingFolder(), env: process.env });
  const userFile = findConfigFile(folders.home);
  if (userFile === undefined) return {};
  try {
    const checked = await checkConfigFile(await readConfigFile(userFile));
    const places = { ...folders, userFile, projectFile: undefined };
    const audit = resolveAudit([{ file: userFile, ...checked }], places, () => {});
    return audit ? { audit } : {};
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    write(`this is not in the audit log, because ${userFile} can't be read: ${error.message}`);
    return {};
  }
}
