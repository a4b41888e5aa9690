// One session's way to a server's process: finds out what the process has to be like for this session, joins the one
// that is, or starts it, and gives the session its own Child.
import { Child } from '../child/child.ts';
import type { Screen } from '../child/screen.ts';
import { secretsOfSession } from '../child/secrets.ts';
import { type ServerEvents, type StartOptions, startServer } from '../child/start.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Catalog } from './catalog.ts';
import type { Tenant } from './lease.ts';
import { type IdentityParts, processIdentity } from './process-identity.ts';
import type { Processes } from './processes.ts';
import type { LeaseRequest } from './shared-server.ts';
import type { Wish } from './slot.ts';
import type { StartAttempt } from './starter.ts';

export interface JoinOptions
  extends Omit<IdentityParts, 'mark'>,
    Pick<StartOptions, 'credentials' | 'confine' | 'openInside' | 'mark' | 'served'>,
    Pick<Tenant, 'stderr' | 'askOutside' | 'inputSchemaOf' | 'onBug'> {
  /** The roots of a session with several hosts. */
  readonly ownRoots: Tenant['roots'];
  readonly processes: Processes;
  readonly catalog: Catalog;
  readonly screen: Screen | undefined;
}

export async function joinServer(
  config: ChildConfig,
  wish: Wish,
  options: JoinOptions,
): Promise<Child> {
  const { processes, catalog, env, variables, login, session, mark } = options;
  const { credentials, confine, openInside, served } = options;
  const { cancellation, preferredEra, onNotification, onStopping } = wish;
  const { stderr, askOutside, inputSchemaOf, onBug, ownRoots } = options;
  const { lingerMs, maxMemoryMb } = config;
  const lease = await processes.lease({
    identity: processIdentity(config, options),
    config,
    catalog,
    cancellation,
    preferredEra,
    onStopping,
    tenant: {
      session,
      lingerMs,
      maxMemoryMb,
      stderr,
      onNotification,
      askOutside,
      inputSchemaOf,
      roots: ownRoots,
      onRootsAsked: () => catalog.rememberRoots(config),
      onAsked: () => catalog.rememberQuestions(config),
      onHeld: () => wish.onHeld?.(),
      onMoved: (move) => wish.onMoved?.(move),
      onBug,
    },
    open: createOpen({
      env,
      variables,
      login,
      credentials,
      confine,
      openInside,
      served,
      mark: { ...mark, ...processes.mark },
      // Sessions must not wait for each other because of questions that most servers never ask.
      expectsQuestions: !processes.isShared || catalog.get(config).asksQuestions === true,
      onProcess: processes.onProcess,
    }),
  });
  // The session that started it may have written the same values literally.
  const unknown = secretsOfSession(config, env, variables).filter(
    (secret) => !lease.secrets.includes(secret),
  );
  if (unknown.length > 0) lease.hide(unknown);
  const { greeting } = lease;
  const { screen } = options;
  const child = new Child({ config, link: lease, greeting, conversation: lease, screen });
  lease.user = child;
  return child;
}

/** In a scope of its own: what it refers to lives as long as the process, and the session may end before. */
function createOpen(
  own: Omit<StartOptions, keyof (StartAttempt & ServerEvents)>,
): LeaseRequest['open'] {
  return (config, attempt) => startServer(config, { ...attempt, ...own });
}
