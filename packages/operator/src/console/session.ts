/** Sessions of the console, and the proof that a form comes from a page of the session. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import querystring from 'node:querystring';
import { adminBounds, identityBounds } from '@partner-network/common/bounds/operator';
import { holdsKey, isLocal } from '@partner-network/common/text';
import { isPast, toTime } from '@partner-network/common/times';
import { readPlainBody } from '@partner-network/http/body';
import type { Exchange } from '@partner-network/http/handle';
import { Refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import { digestOfKey } from '@partner-network/service/auth';
import type { SealedBox } from '@partner-network/service/cursors';
import type { Store } from '@partner-network/store/port';
import { type Caller, callerOf } from '../admin/credentials.ts';
import { bodyLimits } from '../admin/request.ts';
import { type Account, nameOf } from '../identity/account.ts';
import type { OidcSettings } from '../identity/settings.ts';

/** Where a browser sends a cookie, and for how long it keeps it. */
interface Cookie {
  readonly name: string;
  readonly ms: number;
  readonly path?: string;
  readonly sameSite?: 'Strict' | 'Lax';
}

const keyCookie: Cookie = { name: 'partner_network_console', ms: adminBounds.sessionMs };
/** Outlives the session, to say who sent a form too late. */
const personCookie: Cookie = { ...keyCookie, ms: adminBounds.cookieMs };
const formCookie: Cookie = { name: 'partner_network_form', ms: identityBounds.underWayMs };

/** A person who is signed in, and what is sealed for this session only. */
export interface Session {
  readonly caller: Caller;
  /** The name of the key, or of the person. */
  readonly name: string;
  readonly isOver: boolean;
  /** Seals a text for this session: the token of its forms, or a notice that no link from elsewhere shows. */
  seal(what: 'form' | 'notice', text: string): string;
  open(what: 'form' | 'notice', sealed?: string): string | undefined;
  /** Ends it on all instances. Otherwise a copy of the cookie would work until its time is over. */
  end(): Promise<boolean>;
}

/** A person with an account at the identity provider. */
type Person = Account & Pick<Caller, 'role'>;

/** What a cookie holds: the digest of a key, or a person; and when it was issued. */
type Content = readonly [who: string | Person, issuedMs: number];

interface SessionParts {
  readonly store: Pick<Store, 'findAdminKey' | 'findAdminKeyById' | 'isSessionEnded' | 'endSession'>;
  readonly box: SealedBox;
  readonly oidc: OidcSettings | undefined;
  readonly publicUrl: () => string;
}

export type Sessions = ReturnType<typeof createSessions>;

/**
 * Cookies and tokens are sealed with a key that the role of `serve` cannot read. What a text is sealed for is
 * authenticated: a cookie does not open as a token. The empty text stands where cursors of partners have
 * their partner.
 */
export function createSessions(parts: SessionParts) {
  const { store, box, publicUrl } = parts;
  const sealedFor = (name: string, of = '') => [name, '', of] as const;
  const keptFor = ({ caller }: Session) =>
    sealedFor('console kept form', JSON.stringify([caller.actor, caller.details]));

  return {
    /** Begins a session. The key is not kept, but its digest. */
    begin: (exchange: Exchange, given: Person | { readonly key: string }): void => {
      const isKey = 'key' in given;
      const who: Content[0] = isKey ? Buffer.from(digestOfKey(given.key)).toString('base64url') : given;
      const sealed = box.seal(sealedFor('console session'), JSON.stringify([who, Date.now()]));
      setCookie(exchange, publicUrl(), isKey ? keyCookie : personCookie, sealed);
    },

    /** The answer makes the browser forget the session. */
    forget: (exchange: Exchange): void => setCookie(exchange, publicUrl(), keyCookie, ''),

    /**
     * The session of a request, also when its time is over. Its end and its key are looked up each time, so
     * that a revocation counts at once. The digest of the cookie stands for the session: no other text opens
     * as the same session.
     */
    find: async (exchange: Exchange): Promise<Session | undefined> => {
      const text = cookieOf(exchange, keyCookie.name);
      const opened = box.open(sealedFor('console session'), text);
      if (opened === undefined) return undefined;
      const [who, issuedMs] = JSON.parse(opened) as Content;
      const digest = hash('sha256', text, 'buffer');
      const owner = await ownerOf(who, parts);
      const ageMs = Date.now() - issuedMs;
      // A session that was issued while a clock was ahead would last for too long.
      if (owner === undefined || ageMs < -adminBounds.sessionAheadMs) return undefined;
      if (await store.isSessionEnded(digest)) return undefined;
      const { lengthMs, ...named } = owner;
      return {
        ...named,
        isOver: ageMs >= lengthMs,
        seal: (what, own) => box.seal(sealedFor(`console ${what}`, text), own),
        open: (what, sealed = '') => box.open(sealedFor(`console ${what}`, text), sealed),
        end: () => store.endSession(digest, toTime(issuedMs + adminBounds.cookieMs)),
      };
    },

    /** Keeps a form for the next session of the same person, without keys that were pasted into it. */
    keepForm: (exchange: Exchange, session: Session, path: string, form: URLSearchParams): void => {
      const fields = [...form].filter(([name, text]) => name !== 'token' && !holdsKey(text));
      const sealed = box.seal(keptFor(session), JSON.stringify([path, fields]));
      setCookie(exchange, publicUrl(), formCookie, sealed);
    },

    /** The form that was kept for a page. The answer forgets it. */
    takeForm: (exchange: Exchange, session: Session, path: string): URLSearchParams | undefined => {
      const opened = box.open(keptFor(session), cookieOf(exchange, formCookie.name)) ?? '[]';
      const [keptPath, fields] = JSON.parse(opened);
      if (keptPath !== path) return undefined;
      setCookie(exchange, publicUrl(), formCookie, '');
      return new URLSearchParams(fields);
    },
  };
}

/** The caller, the name and the length of a session. Undefined if it may not be continued. */
async function ownerOf(who: Content[0], { store, oidc }: SessionParts) {
  if (typeof who !== 'string') {
    const { issuer } = who.details;
    if (oidc === undefined || new URL(issuer).href !== oidc['oidc-issuer'].href) return undefined;
    return { caller: who, name: nameOf(who.actor), lengthMs: oidc['oidc-session'] };
  }
  if (oidc?.['oidc-only']) return undefined;
  const key = await store.findAdminKey(Buffer.from(who, 'base64url'));
  if (key === undefined || key.isRevoked || isPast(key.expiresAt)) return undefined;
  const { name } = (await store.findAdminKeyById(key.id))!;
  return { caller: callerOf(key), name, lengthMs: adminBounds.sessionMs };
}

/** Sets a cookie, or makes the browser forget it if the text is empty. */
export function setCookie(
  { headers }: Pick<Exchange, 'headers'>,
  publicUrl: string,
  { name, ms, path = '/console', sameSite = 'Strict' }: Cookie,
  text: string,
): void {
  const maxAge = text === '' ? 0 : ms / 1_000;
  const attributes = ['HttpOnly', `SameSite=${sameSite}`, `Path=${path}`, `Max-Age=${maxAge}`];
  if (!isLocal(publicUrl)) attributes.push('Secure');
  headers.push('Set-Cookie', `${name}=${text}; ${attributes.join('; ')}`);
}

/** The text of a cookie, or an empty one. Two cookies of a name cannot both be ours, so neither is taken. */
export function cookieOf({ rawHeaders }: Exchange, name: string): string {
  const pairs = headerValues(rawHeaders, 'cookie').flatMap((header) => header.split(/;\s*/));
  const [own, another] = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return another === undefined ? (own?.slice(name.length + 1) ?? '') : '';
}

/** The fields of a form. */
export async function readForm(exchange: Exchange): Promise<URLSearchParams> {
  const body = await readPlainBody(exchange, 'application/x-www-form-urlencoded', bodyLimits);
  return new URLSearchParams(isUtf8(body) ? body.toString() : '');
}

const refused = (detail: string) =>
  new Refusal([{ category: 'INVALID_REQUEST_ERROR', code: 'FORGED_REQUEST', detail }], [], 403);

/** Refuses a form that another site sends. Browsers say where a form comes from; other clients need not. */
export function requireOwnSite({ rawHeaders }: Exchange, publicUrl: string): void {
  const [site] = headerValues(rawHeaders, 'sec-fetch-site');
  const [origin] = headerValues(rawHeaders, 'origin');
  const [host] = headerValues(rawHeaders, 'host');
  // Through a tunnel, a local address has another port. Its name must be local, too: any website can give
  // its own name the address 127.0.0.1.
  const isOwn =
    origin === undefined ||
    origin === new URL(publicUrl).origin ||
    (isLocal(publicUrl) && isLocal(origin) && URL.parse(origin)?.host === host);
  if (isOwn && (site === undefined || site === 'same-origin')) return;
  throw refused(`The form comes from another address than ${publicUrl}. Open the console there, and repeat.`);
}

/** Refuses a form without a token of the session. */
export function requireToken(session: Session, form: URLSearchParams): void {
  if (session.open('form', form.get('token') ?? '') !== undefined) return;
  throw refused('The form is not of this session. Open the page again, and repeat what you did.');
}

/** The address to return to after the sign-in: a page of the console, and nothing else. */
export function returnPath(asked: string | null): string {
  const url = asked === null || !asked.startsWith('/') ? null : URL.parse(asked, 'http://console');
  const isOwn = url?.host === 'console' && /^\/console(?:$|\/)/.test(url.pathname);
  return isOwn && !holdsKey(querystring.unescape(url.href)) ? url.pathname + url.search : '/console';
}
