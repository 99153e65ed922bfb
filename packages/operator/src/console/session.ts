/** Sessions of the console, and the proof that a form comes from a page of the session. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import querystring from 'node:querystring';
import { adminBounds } from '@partner-network/common/bounds/operator';
import { holdsKey } from '@partner-network/common/text';
import { isPast, toTime } from '@partner-network/common/times';
import { readPlainBody } from '@partner-network/http/body';
import type { Exchange } from '@partner-network/http/handle';
import { Refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import { digestOfKey } from '@partner-network/service/auth';
import type { SealedBox } from '@partner-network/service/cursors';
import type { AdminKeyOnFile, Store } from '@partner-network/store/port';
import { bodyLimits } from '../admin/request.ts';

const cookieName = 'partner_network_console';

/**
 * Cookies and tokens are sealed with the keys of cursors, which all instances read from the database. What a
 * text is sealed for is authenticated: a cursor does not open as a cookie, and a cookie not as a token. The
 * empty text stands where cursors of partners have their partner.
 */
const sealedFor = (name: string, cookie = '') => [name, '', cookie] as const;

export interface Session {
  readonly key: AdminKeyOnFile;
  /** The name of the key. */
  readonly name: string;
  /** A text for forms, which is valid in this session only: against forged requests. */
  token(): string;
  isOwnToken(token: string): boolean;
  /** Seals a sentence for an address, so that a link from elsewhere cannot show one. */
  sealNotice(text: string): string;
  openNotice(sealed: string | undefined): string | undefined;
  /** Ends the session on all instances. Otherwise a copy of the cookie would work until its time is over. */
  end(): Promise<void>;
}

type SessionStore = Pick<Store, 'findAdminKey' | 'findAdminKeyById' | 'isSessionEnded' | 'endSession'>;

export function createSessions(store: SessionStore, { seal, open }: SealedBox) {
  return {
    /**
     * The cookie's text for a new session. It holds the digest of the key: `serve` can read the keys of
     * cursors, but no digest of an administrative key, so it could not seal a cookie that opens anything.
     */
    begin: (key: string): string => {
      const digest = Buffer.from(digestOfKey(key)).toString('base64url');
      return seal(sealedFor('console session'), JSON.stringify([digest, Date.now()]));
    },

    /**
     * The session of a request. Its end and its key are looked up each time, so that a revocation counts at
     * once. The digest of the cookie stands for the session: no other text opens as the same session.
     */
    find: async ({ rawHeaders }: Exchange): Promise<Session | undefined> => {
      const cookie = cookieOf(rawHeaders) ?? '';
      const opened = open(sealedFor('console session'), cookie);
      if (opened === undefined) return undefined;
      const [digest, issuedMs] = JSON.parse(opened) as [string, number];
      const ageMs = Date.now() - issuedMs;
      // A session that was issued while a clock was ahead would last for too long.
      if (ageMs >= adminBounds.sessionMs || ageMs < -adminBounds.sessionAheadMs) return undefined;
      const session = hash('sha256', cookie, 'buffer');
      if (await store.isSessionEnded(session)) return undefined;
      const key = await store.findAdminKey(Buffer.from(digest, 'base64url'));
      if (key === undefined || key.isRevoked || isPast(key.expiresAt)) return undefined;
      const { name } = (await store.findAdminKeyById(key.id))!;
      const form = sealedFor('console form', cookie);
      const notice = sealedFor('console notice', cookie);
      return {
        key,
        name,
        token: () => seal(form, ''),
        isOwnToken: (token) => open(form, token) !== undefined,
        sealNotice: (text) => seal(notice, text),
        openNotice: (sealed) => (sealed === undefined ? undefined : open(notice, sealed)),
        end: () => store.endSession(session, toTime(issuedMs + adminBounds.sessionMs)),
      };
    },
  };
}

/** Two cookies of this name cannot both be ours, so neither is taken. */
function cookieOf(rawHeaders: readonly string[]): string | undefined {
  const pairs = headerValues(rawHeaders, 'cookie').flatMap((header) => header.split(/;\s*/));
  const own = pairs.filter((pair) => pair.startsWith(`${cookieName}=`));
  return own.length === 1 ? own[0]!.slice(cookieName.length + 1) : undefined;
}

/** The header that sets the cookie, or forgets it if the text is empty. */
export function setCookie(publicUrl: string, text: string): string[] {
  const maxAge = text === '' ? 0 : adminBounds.sessionMs / 1_000;
  const attributes = ['HttpOnly', 'SameSite=Strict', 'Path=/console', `Max-Age=${maxAge}`];
  if (!isLocal(publicUrl)) attributes.push('Secure');
  return ['Set-Cookie', `${cookieName}=${text}; ${attributes.join('; ')}`];
}

/** Whether an address is http on a loopback host, where browsers may not keep a cookie that is Secure. */
export function isLocal(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'http:' && /^(?:127\.[\d.]+|\[::1\]|(?:.*\.)?localhost)$/.test(url.hostname);
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
  if (session.isOwnToken(form.get('token') ?? '')) return;
  throw refused('The form is not of this session. Open the page again, and repeat what you did.');
}

/** The address to return to after the sign-in: a page of the console, and nothing else. */
export function returnPath(asked: string | null): string {
  const url = asked === null || !asked.startsWith('/') ? null : URL.parse(asked, 'http://console');
  const isOwn = url?.host === 'console' && /^\/console(?:$|\/)/.test(url.pathname);
  return isOwn && !holdsKey(querystring.unescape(url.href)) ? url.pathname + url.search : '/console';
}
