// Connections without an authorized request so far. Anyone who can reach the port can open them, so their number is
// limited: beyond it the oldest is closed, and a host that connects always gets through.
import type { Socket } from 'node:net';

export interface UnauthorizedOptions {
  readonly most: number;
  readonly onEvict: () => void;
}

export class UnauthorizedConnections {
  readonly #options: UnauthorizedOptions;
  /** Oldest first. */
  readonly #sockets = new Set<Socket>();

  constructor(options: UnauthorizedOptions) {
    this.#options = options;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    const [oldest] = this.#sockets;
    if (this.#sockets.size <= this.#options.most || !oldest) return;
    this.#sockets.delete(oldest);
    oldest.destroy();
    this.#options.onEvict();
  }

  /** The connection carried an authorized request. */
  release(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}
