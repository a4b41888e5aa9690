/** Access to a server that requires users to sign in. */
export interface Credentials {
  /** The Authorization header, renewed if it has expired; undefined if the user hasn't signed in. */
  authorization(): Promise<string | undefined>;
  /**
   * The server refused `used` (401). Returns a newer value, or undefined if only signing in again helps. Concurrent
   * callers share one renewal.
   */
  renew(used: string | undefined): Promise<string | undefined>;
}
