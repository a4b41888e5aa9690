// The address that is shown to the user and handed to a program of the system. It comes from a
// server that we do not trust yet, and such addresses have been used to start programs.
import { isLoopback } from './addresses.ts';
import { quote, signInFailed } from './failures.ts';

/** Browsers and the systems' programs take no longer ones safely. */
const LONGEST = 8_000;

/** The address, parsed and written anew; throws where it must not be opened. */
export function checkBrowserAddress(childName: string, address: URL, serverUrl: URL): URL {
  const url = new URL(address.href);
  const refuse = (why: string) =>
    signInFailed(childName, `the address to sign in at is not opened, because it ${why}`, {
      hint: `It begins with: ${quote(url.href.slice(0, 100))}`,
    });
  if (url.href.length > LONGEST) throw refuse(`is longer than ${LONGEST} characters`);
  if (url.protocol === 'http:') {
    if (!isLoopback(url.hostname) || !isLoopback(serverUrl.hostname)) throw refuse('is not https');
  } else if (url.protocol !== 'https:') {
    throw refuse('is not https');
  }
  if (url.username !== '' || url.password !== '') throw refuse('has a user name in it');
  // What a host can be is settled by the parser; this is for the day that it is not.
  if (!/^[a-z0-9.-]+$|^\[[0-9a-f:.]+\]$/.test(url.hostname)) throw refuse('has no sound host');
  return url;
}
