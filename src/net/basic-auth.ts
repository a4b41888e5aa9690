// User names and passwords in URLs.

/** Removes the user name and password from a URL and returns them as a header, if there are any. */
export function takeCredentials(url: URL): string | undefined {
  const { username, password } = url;
  if (username === '' && password === '') return undefined;
  url.username = '';
  url.password = '';
  const pair = Buffer.from(`${decodePart(username)}:${decodePart(password)}`);
  return `Basic ${pair.toString('base64')}`;
}

/** Part of a URL without percent-encoding. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray %
  }
}
