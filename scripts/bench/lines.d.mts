import type { Readable } from 'node:stream';

export function onLine(stream: Readable, take: (line: Buffer) => void): void;
