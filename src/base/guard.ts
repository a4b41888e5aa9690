// Servers, hosts and the network must not be able to crash the process. Callbacks that they trigger are
// guarded: a throw fails only the request or connection it belongs to. A throw anywhere else is a bug and
// still crashes.

/** `onThrow` reports the error and ends the request or connection. */
export function guard<Args extends readonly unknown[]>(
  onThrow: (error: unknown) => void,
  callback: (...args: Args) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      callback(...args);
    } catch (error) {
      onThrow(error);
    }
  };
}
