// Servers, hosts and the network must not be able to end the process. Callbacks that run because of them
// are guarded: a throw fails the one request or connection it belongs to. A throw anywhere else is still
// a bug that ends the program.

/** `onThrow` reports the error and ends what the callback belongs to. */
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
