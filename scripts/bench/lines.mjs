// The lines of a stream. Each byte is read once, no matter how large a line is and how small its chunks are.

const LINE_FEED = 0x0a;

/** Calls `take` with each line, without its line feed. */
export function onLine(stream, take) {
  let pieces = [];
  stream.on('data', (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      const last = chunk.subarray(start, end);
      start = end + 1;
      if (pieces.length === 0) {
        take(last);
        continue;
      }
      const line = Buffer.concat([...pieces, last]);
      pieces = [];
      take(line);
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  });
}
