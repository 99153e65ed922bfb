/** Finds e-mail addresses. Handles, versions, file names and Git remotes are not addresses. */

/**
 * An @ with a domain that has a dot. The character before the @ excludes handles ("/@brand"). Each match is
 * bounded by an @, so that the time is linear for any text.
 */
const candidates = new RegExp(
  [
    '[a-z0-9_+"\\u0080-\\uffff-]@',
    '((?:[a-z0-9\\u0080-\\uffff-]+\\.)+[a-z0-9\\u0080-\\uffff-]+|\\[(?:ipv6:)?[0-9a-f.:]{3,45}\\])',
  ].join(''),
  'gi',
);

/** The maximum length of the part before the @. */
const nameCharacters = 64;

export function holdsMailAddress(text: string): boolean {
  if (!text.includes('@')) return false;
  for (const match of text.matchAll(candidates)) {
    const at = match.index + 1;
    if (isMailDomain(match[1]!) && isMailName(text, at)) return true;
  }
  return false;
}

/** File endings that are not top-level domains: logo@2x.png is a file name. */
const fileEnding = new RegExp(
  [
    '\\.(?:png|jpe?g|gif|svg|webp|avif|ico|heic|bmp|tiff?|pdf|docx?|xlsx?|csv|txt',
    '|jsonl?|m?js|css|html?|xml|ya?ml|sql|log|gz|exe|dll)$',
  ].join(''),
  'i',
);

function isMailDomain(domain: string): boolean {
  if (domain.startsWith('[')) return true;
  // name@1.2.3-beta.rc is a version, root@10.0.0.1 a machine.
  if (/^v?\d+\.\d/i.test(domain) || domain.startsWith('-')) return false;
  return /\.(?:[a-z\u0080-\uffff]{2,63}|xn--[a-z0-9-]{1,59})-*$/i.test(domain) && !fileEnding.test(domain);
}

/** Whether the text before the @ is a name, and not part of a handle, a web address or a Git remote. */
function isMailName(text: string, at: number): boolean {
  if (text[at - 1] === '"') return isQuotedName(text.slice(Math.max(0, at - nameCharacters - 2), at));
  let start = at;
  while (start > 0 && at - start < nameCharacters && nameCharacter.test(text[start - 1]!)) start -= 1;
  // @brand@social.example is a handle; sftp://deploy@files.example is a web address with a user.
  const before = text[start - 1];
  if (before === '@' || (before === '/' && text[start - 2] === '/')) return false;
  if (before === ':' && /\/\/[^\s/@]*:$/.test(text.slice(Math.max(0, start - nameCharacters), start)))
    return false;
  const name = text.slice(start, at);
  return /[a-z0-9\u0080-\uffff]/i.test(name) && name.toLowerCase() !== 'git';
}

/** Allowed in a name: some ASCII characters, and all others. */
const nameCharacter = /[a-z0-9._%+'&~\u0080-\uffff-]/i;

/** As in "Jane Doe"@example.com. In {"handle":"@brand.official"} the quote before the @ opens a string. */
function isQuotedName(text: string): boolean {
  return /(?:^|[^a-z0-9\u0080-\uffff])"[a-z0-9\u0080-\uffff](?:[^"]*[a-z0-9\u0080-\uffff])?"$/i.test(text);
}
