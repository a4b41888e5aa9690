// The servers that the user has set up in other programs. Their files are read anew for each run, so
// that what is changed there counts at once; that takes a few milliseconds.
import type { AgentSettings } from '../../config/config.ts';
import { type Candidate, type Candidates, mergeCandidates } from './candidate.ts';
import { readListing } from './listing.ts';
import { readClaude } from './programs/claude.ts';
import { readCodex } from './programs/codex.ts';
import { readCursor } from './programs/cursor.ts';
import { readGemini } from './programs/gemini.ts';
import type { ProgramPlaces } from './programs/places.ts';
import { readVsCode } from './programs/vscode.ts';
import { isSelf } from './self.ts';

export interface DiscoverOptions extends ProgramPlaces {
  readonly settings: AgentSettings;
  /** The real path of the program that runs now, where that is known. */
  readonly program?: string | undefined;
}

/** Strongest first: of two servers with one key the earlier counts. */
const PROGRAMS = [readVsCode, readClaude, readCursor, readCodex, readGemini];

export async function discoverServers(options: DiscoverOptions): Promise<Candidates> {
  if (!options.settings.mcpDiscovery) return mergeCandidates();
  const listings = await Promise.all(PROGRAMS.map((read) => read(options)));
  const found = listings.flat().map((listing) => readListing(listing, options));
  const all = options.settings.skipSelf
    ? found.map((group) => withoutSelf(group, options.program))
    : found;
  return mergeCandidates(...all);
}

/** Nearly every host has Switchboard, so that is no warning; who names it is told. */
function withoutSelf(group: Candidates, program: string | undefined): Candidates {
  const isOurs = (server: Candidate) => isSelf(server, program);
  const reasons = group.servers
    .filter(isOurs)
    .map(({ key, origin }) => [key, explainSelf(key, origin)] as const);
  return {
    ...group,
    servers: group.servers.filter((server) => !isOurs(server)),
    leftOut: new Map([...group.leftOut, ...reasons]),
  };
}

function explainSelf(key: string, origin: string): string {
  return `${origin}: server ${JSON.stringify(key)} is Switchboard itself, which agents do not get from there. An agent that is to have it brings it along, or set SWITCHBOARD_SKIP_SELF=false.`;
}
