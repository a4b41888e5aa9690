// What is sent to the engine, as text. It takes JSON more strictly than most: half of a character, such as
// a text has that was cut in the middle of one, makes it throw the whole message away without a word, and
// the run would wait for an answer until its time is over.
import { Verbatim } from '../../rpc/verbatim.ts';

/** An escape sequence; written as such, a surrogate is one without its other half. */
const ESCAPE = /\\(?:ud[89a-f]..|.)/g;

/** The value, with the sign for what cannot be read in place of half a character. */
export function toEngine(value: unknown): Verbatim {
  const text = JSON.stringify(value) ?? 'null';
  if (!text.includes('\\ud')) return new Verbatim(text, value);
  const whole = text.replace(ESCAPE, (escape) => (escape.length > 2 ? '\ufffd' : escape));
  return new Verbatim(whole, value);
}
