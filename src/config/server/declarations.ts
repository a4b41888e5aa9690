// Finds every declaration of each server.
import { dirname } from 'node:path';
import type { FoundChild } from '../files/child-files.ts';
import { withPlainVariables } from '../files/servers-file.ts';
import type { Basis } from '../judge.ts';
import type { ConfigSources } from '../sources.ts';
import type { Declaration } from './command.ts';

type DeclaringSources = Pick<
  ConfigSources,
  'layers' | 'childFiles' | 'foreignChildFiles' | 'preferred' | 'serversFiles' | 'project'
>;

/**
 * All declarations by name, highest precedence first. A server comes entirely from one of them; they aren't
 * merged.
 */
export function collectDeclarations({
  layers,
  childFiles,
  foreignChildFiles,
  preferred,
  serversFiles,
  project,
}: DeclaringSources): Map<string, Declaration[]> {
  // Settings in the main file change servers wherever they are declared.
  const settings = layers.flatMap(({ basis = [] }) => basis);
  const withSettings = (basis: Basis | undefined) => basis && [...basis, ...settings];
  const declarations = new Map<string, Declaration[]>();
  const add = (name: string, declaration: Declaration): void => {
    const others = declarations.get(name);
    if (others) others.push(declaration);
    else declarations.set(name, [declaration]);
  };
  if (preferred) add(preferred.entry.name, declarationIn(preferred));
  for (const { file, config, invalidServers, origin: trust, script, basis } of layers) {
    for (const [name, entry] of Object.entries(config.mcpServers ?? {})) {
      const invalid = invalidServers.get(name);
      add(name, {
        source: 'main-file',
        origin: file,
        entry,
        folder: project,
        invalid,
        trust,
        script,
        basis,
      });
    }
  }
  for (const found of [...childFiles.values(), ...foreignChildFiles]) {
    const { basis, ...declaration } = declarationIn(found);
    add(found.entry.name, { ...declaration, basis: withSettings(basis) });
  }
  for (const { file, servers, invalid: invalidServers, origin: trust, ...layer } of serversFiles) {
    const basis = withSettings(layer.basis);
    for (const [name, written] of Object.entries(servers)) {
      const entry = withPlainVariables(written);
      const invalid = invalidServers.get(name);
      add(name, {
        source: 'servers-file',
        origin: file,
        entry,
        folder: project,
        invalid,
        trust,
        basis,
      });
    }
  }
  return declarations;
}

function declarationIn(found: FoundChild): Declaration {
  const { file, entry, invalid, original, origin: trust, basis } = found;
  const folder = dirname(file);
  return { source: 'child-file', origin: file, entry, invalid, original, folder, trust, basis };
}
