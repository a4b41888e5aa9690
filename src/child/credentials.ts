/** What opens the door of a server that wants its users to sign in. */
export interface Credentials {
  /** The value of the Authorization header to send; undefined where nobody has signed in. Renews it first if it is known to have expired. */
  authorization(): Promise<string | undefined>;
  /** The server has refused `used` (401). A newer value, or undefined if only a new sign-in helps. One renewal serves all who ask at once. */
  renew(used: string | undefined): Promise<string | undefined>;
}
