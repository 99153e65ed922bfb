/** Sessions of the console, and the proof that a form comes from a page of the session. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import querystring from 'node:querystring';
import { adminBounds } from '@partner-network/common/bounds/operator';
import { holdsKey, isLocal } from '@partner-network/common/text';
import { isPast, toTime } from '@partner-network/common/times';
import type { AdminRole } from '@partner-network/contract/permissions';
import { readPlainBody } from '@partner-network/http/body';
import type { Exchange } from '@partner-network/http/handle';
import { Refusal } from '@partner-network/http/refusal';
import { headerValues } from '@partner-network/http/request';
import { digestOfKey } from '@partner-network/service/auth';
import type { SealedBox } from '@partner-network/service/cursors';
import type { Store } from '@partner-network/store/port';
import { type Caller, callerOf } from '../admin/credentials.ts';
import { bodyLimits } from '../admin/request.ts';
import type { Account } from '../identity/account.ts';
import type { OidcSettings } from '../identity/settings.ts';

const cookieName = 'partner_network_console';
const formCookieName = 'partner_network_form';

/**
 * Cookies and tokens are sealed with a key that the role of `serve` cannot read. What a text is sealed for is
 * authenticated: a cookie does not open as a token. The empty text stands where cursors of partners have
 * their partner.
 */
const sealedFor = (name: string, of = '') => [name, '', of] as const;
type SealedFor = ReturnType<typeof sealedFor>;

/** A person who is signed in, and what is sealed for this session only. */
export class Session {
  readonly caller: Caller;
  /** The name of the key, or of the person. */
  readonly name: string;
  readonly #box: SealedBox;
  readonly #form: SealedFor;
  readonly #notice: SealedFor;
  readonly #kept: SealedFor;

  constructor({ caller, name }: Pick<Session, 'caller' | 'name'>, cookie: string, box: SealedBox) {
    this.caller = caller;
    this.name = name;
    this.#box = box;
    this.#form = sealedFor('console form', cookie);
    this.#notice = sealedFor('console notice', cookie);
    // For the next session of the same person, too.
    this.#kept = sealedFor('console kept form', JSON.stringify([caller.actor, caller.details]));
  }

  /** A text for forms: against forged requests. */
  token(): string {
    return this.#box.seal(this.#form, '');
  }

  isOwnToken(token: string): boolean {
    return this.#box.open(this.#form, token) !== undefined;
  }

  /** Seals a sentence for an address, so that a link from elsewhere cannot show one. */
  sealNotice(text: string): string {
    return this.#box.seal(this.#notice, text);
  }

  openNotice(sealed = ''): string | undefined {
    return this.#box.open(this.#notice, sealed);
  }

  /** Seals a form that was sent after the end of the session, without keys that were pasted into it. */
  sealForm(path: string, form: URLSearchParams): string {
    const fields = [...form].filter(([name, text]) => name !== 'token' && !holdsKey(text));
    return this.#box.seal(this.#kept, JSON.stringify([path, fields]));
  }

  /** The form that was kept for this page. */
  openForm(path: string, sealed = ''): URLSearchParams | undefined {
    const [keptPath, fields] = JSON.parse(this.#box.open(this.#kept, sealed) ?? '[]');
    return keptPath === path ? new URLSearchParams(fields) : undefined;
  }
}

/** A person with an account at the identity provider. */
export interface Person extends Account {
  readonly role: AdminRole;
}

/** What a cookie holds: the digest of a key, or a person; and when it was issued. */
type Content = readonly [who: string | Person, issuedMs: number];

type SessionStore = Pick<Store, 'findAdminKey' | 'findAdminKeyById' | 'isSessionEnded' | 'endSession'>;

export function createSessions(
  store: SessionStore,
  box: SealedBox,
  oidc: OidcSettings | undefined,
  publicUrl: () => string,
) {
  const cookie = (name: string, text: string, ms: number) => setCookie(publicUrl(), name, text, ms);

  /** The caller, the name and the length of a session. Undefined if it may not be continued. */
  async function ownerOf(who: Content[0]) {
    if (typeof who !== 'string') {
      const { issuer, subject, name, role } = who;
      if (oidc === undefined || URL.parse(issuer)?.href !== oidc['oidc-issuer'].href) return undefined;
      const caller: Caller = { role, actor: `person:${name}`, details: { subject, issuer } };
      return { caller, name, lengthMs: oidc['oidc-session'] };
    }
    if (oidc?.['oidc-only']) return undefined;
    const key = await store.findAdminKey(Buffer.from(who, 'base64url'));
    if (key === undefined || key.isRevoked || isPast(key.expiresAt)) return undefined;
    const { name } = (await store.findAdminKeyById(key.id))!;
    return { caller: callerOf(key), name, lengthMs: adminBounds.sessionMs };
  }

  return {
    /** The header of a new session. The cookie of a person outlives it, to say who sent a form too late. */
    begin: (who: { readonly key: string } | Person): string[] => {
      const isKey = 'key' in who;
      const content = isKey ? Buffer.from(digestOfKey(who.key)).toString('base64url') : who;
      const sealed = box.seal(sealedFor('console session'), JSON.stringify([content, Date.now()]));
      return cookie(cookieName, sealed, isKey ? adminBounds.sessionMs : adminBounds.cookieMs);
    },

    /** The header that forgets a session. */
    forget: (): string[] => cookie(cookieName, '', 0),

    /**
     * The session of a request, and whether its time is over. Its end and its key are looked up each time, so
     * that a revocation counts at once. The digest of the cookie stands for the session: no other text opens
     * as the same session.
     */
    find: async ({ rawHeaders }: Exchange) => {
      const text = cookieOf(rawHeaders, cookieName) ?? '';
      const opened = box.open(sealedFor('console session'), text);
      if (opened === undefined) return undefined;
      const [who, issuedMs] = JSON.parse(opened) as Content;
      const digest = hash('sha256', text, 'buffer');
      const owner = await ownerOf(who);
      const ageMs = Date.now() - issuedMs;
      // A session that was issued while a clock was ahead would last for too long.
      if (owner === undefined || ageMs < -adminBounds.sessionAheadMs) return undefined;
      if (await store.isSessionEnded(digest)) return undefined;
      const { lengthMs, ...named } = owner;
      return {
        session: new Session(named, text, box),
        isOver: ageMs >= lengthMs,
        /** Ends it on all instances. Otherwise a copy of the cookie would work until its time is over. */
        end: () => store.endSession(digest, toTime(issuedMs + adminBounds.cookieMs)),
      };
    },

    /** The header that keeps a form. */
    keepForm: (session: Session, path: string, form: URLSearchParams): string[] =>
      cookie(formCookieName, session.sealForm(path, form), adminBounds.keptFormMs),
    /** The form that was kept for a page. The answer forgets it. */
    takeForm: (session: Session, path: string, exchange: Exchange): URLSearchParams | undefined => {
      const form = session.openForm(path, cookieOf(exchange.rawHeaders, formCookieName));
      if (form !== undefined) exchange.headers.push(...cookie(formCookieName, '', 0));
      return form;
    },
  };
}

/** The header that sets a cookie, or forgets it if the text is empty. */
export function setCookie(
  publicUrl: string,
  name: string,
  text: string,
  ms: number,
  { path, sameSite } = { path: '/console', sameSite: 'Strict' },
): string[] {
  const maxAge = text === '' ? 0 : ms / 1_000;
  const attributes = ['HttpOnly', `SameSite=${sameSite}`, `Path=${path}`, `Max-Age=${maxAge}`];
  if (!isLocal(publicUrl)) attributes.push('Secure');
  return ['Set-Cookie', `${name}=${text}; ${attributes.join('; ')}`];
}

/** Two cookies of a name cannot both be ours, so neither is taken. */
export function cookieOf(rawHeaders: readonly string[], name: string): string | undefined {
  const pairs = headerValues(rawHeaders, 'cookie').flatMap((header) => header.split(/;\s*/));
  const own = pairs.filter((pair) => pair.startsWith(`${name}=`));
  return own.length === 1 ? own[0]!.slice(name.length + 1) : undefined;
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
