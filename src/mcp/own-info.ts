// How Switchboard introduces itself.
import { VERSION } from '../base/version.ts';
import { Verbatim } from '../rpc/verbatim.ts';

/** To servers. */
export const CLIENT_INFO = Verbatim.of({ name: 'switchboard', version: VERSION });

/** To hosts. */
export const SERVER_INFO = Verbatim.of({
  name: 'switchboard',
  title: 'Switchboard',
  version: VERSION,
});
