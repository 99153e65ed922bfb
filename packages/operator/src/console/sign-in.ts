/**
 * Sign-in with an identity provider. Nothing is kept on the server: what a sign-in must remember is in a
 * sealed cookie. It is Lax, so that browsers send it on the way back from another site.
 *
 *     asked --start--> at the provider --callback, once and within 10 minutes--> signed in, or refused
 */
import { hash } from 'node:crypto';
import { adminBounds, identityBounds } from '@partner-network/common/bounds/operator';
import { toTime } from '@partner-network/common/times';
import type { AdminRole } from '@partner-network/contract/permissions';
import { redirect } from '@partner-network/http/content';
import type { Exchange } from '@partner-network/http/handle';
import type { SealedBox } from '@partner-network/service/cursors';
import { type Store, whileLocked } from '@partner-network/store/port';
import { type Account, accountOf, roleOf } from '../identity/account.ts';
import { type IdentityProvider, SignInFailed, type SignInSecrets } from '../identity/provider.ts';
import { callbackOf, callbackPath } from '../identity/settings.ts';
import type { Page } from './layout.ts';
import { goingOnPage, noRolePage } from './pages/sign-in.ts';
import { cookieOf, type Sessions, setCookie } from './session.ts';

interface SignInParts {
  readonly store: Pick<Store, 'addAudit' | 'endSession' | 'isSessionEnded'>;
  readonly box: SealedBox;
  readonly sessions: Pick<Sessions, 'begin'>;
  readonly publicUrl: () => string;
}

interface UnderWay {
  readonly secrets: SignInSecrets;
  readonly next: string;
  readonly startedMs: number;
}

const { underWayMs, auditMs, auditAccounts } = identityBounds;
/** The cookie of one state does not open for another. */
const sealedFor = (state: string) => ['console sign-in under way', '', state] as const;

/** Sign-ins in several tabs each have a cookie. */
const cookieFor = (state: string) => ({
  name: `partner_network_sign_in_${hash('sha256', state).slice(0, 16)}`,
  ms: underWayMs,
  path: callbackPath,
  sameSite: 'Lax' as const,
});

const notHere = new SignInFailed(
  400,
  'This browser has no sign-in under way that belongs to this address: it was used already, is older than ' +
    '10 minutes, or the browser keeps no cookies. Allow cookies for this address, and sign in again.',
);

export class SignIn {
  readonly #provider: IdentityProvider;
  readonly #parts: SignInParts;
  readonly #lastEntries = new Map<string, number>();

  constructor(provider: IdentityProvider, parts: SignInParts) {
    this.#provider = provider;
    this.#parts = parts;
  }

  /** Sends the browser to the provider. */
  async start(exchange: Exchange, next: string, prompt?: 'login'): Promise<string> {
    const { box, publicUrl } = this.#parts;
    const { to, secrets } = await this.#provider.start(callbackOf(publicUrl()), prompt);
    const underWay: UnderWay = { secrets, next, startedMs: Date.now() };
    const sealed = box.seal(sealedFor(secrets.expectedState), JSON.stringify(underWay));
    setCookie(exchange, publicUrl(), cookieFor(secrets.expectedState), sealed);
    return redirect(exchange, to);
  }

  /**
   * Takes the answer of the provider. Its page goes on by itself, because browsers do not send the cookie of
   * a session on the way back from another site.
   */
  async finish(exchange: Exchange): Promise<Page> {
    const { settings, host } = this.#provider;
    const { secrets, next } = await this.#take(exchange);
    const address = new URL(`${callbackOf(this.#parts.publicUrl())}?${exchange.query}`);
    const claims = await this.#provider.finish(address, secrets);
    const account = accountOf(claims);
    if (account === undefined) {
      const detail = `The identity provider ${host} sent an account whose subject is empty, too long or not `;
      const remedy = 'readable. Ask an administrator of the provider.';
      throw new SignInFailed(403, detail + remedy, 'the subject cannot be stored');
    }
    const role = roleOf(claims, settings);
    await this.#note(account, role);
    if (role !== undefined) {
      this.#parts.sessions.begin(exchange, { ...account, role });
      return goingOnPage('You are signed in', next);
    }
    exchange.status = 403;
    exchange.code = 'INSUFFICIENT_ROLE';
    return noRolePage(account, settings, claims, exchange.requestId);
  }

  /** The sign-in that the address names. It ends here: a state is used once, on all instances. */
  async #take(exchange: Exchange): Promise<UnderWay> {
    const { box, store, publicUrl } = this.#parts;
    const [state = '', another] = new URLSearchParams(exchange.query).getAll('state');
    const cookie = cookieFor(state);
    const opened = box.open(sealedFor(state), cookieOf(exchange, cookie.name));
    if (opened === undefined || another !== undefined) throw notHere;
    const underWay: UnderWay = JSON.parse(opened);
    setCookie(exchange, publicUrl(), cookie, '');
    const ageMs = Date.now() - underWay.startedMs;
    const digest = hash('sha256', state, 'buffer');
    if (ageMs >= underWayMs || ageMs < -adminBounds.sessionAheadMs) throw notHere;
    const until = toTime(underWay.startedMs + underWayMs + adminBounds.sessionAheadMs);
    const isFirst = await whileLocked(() => store.endSession(digest, until), adminBounds.lockMs);
    if (!isFirst) throw notHere;
    return underWay;
  }

  /** Writes an entry about a sign-in: at most one a minute for an account, outcome and role. */
  async #note({ actor, details }: Account, role: AdminRole | undefined): Promise<void> {
    const outcome = role === undefined ? 'refused' : 'signed in';
    const key = JSON.stringify([details.subject, outcome, role]);
    const entries = this.#lastEntries;
    const nowMs = performance.now();
    if (nowMs - (entries.get(key) ?? Number.NEGATIVE_INFINITY) < auditMs) return;
    if (entries.size >= auditAccounts) entries.clear();
    const by = { actor, action: 'console sign-in' } as const;
    const add = () => this.#parts.store.addAudit(by, 'console', { outcome, role, ...details });
    await whileLocked(add, adminBounds.lockMs);
    entries.set(key, nowMs);
  }
}
