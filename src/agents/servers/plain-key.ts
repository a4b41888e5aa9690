// Keys of servers in the form in which they can be part of a tool's name: engines take no other, and
// some programs write them so.

export function plainKey(key: string): string {
  return key.replaceAll(/[^A-Za-z0-9_-]/g, '_');
}

/** The plain form, with a number where another has it already. */
export function distinctKey(key: string, taken: { has(key: string): boolean }): string {
  const plain = plainKey(key);
  let distinct = plain;
  for (let number = 2; taken.has(distinct); number++) distinct = `${plain}_${number}`;
  return distinct;
}
