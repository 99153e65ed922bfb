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
import { Refusal } from '@partner-network/http/refusal';
import type { SealedBox } from '@partner-network/service/cursors';
import { type Store, whileLocked } from '@partner-network/store/port';
import type { Logger } from 'pino';
import { type Account, accountOf, isClaimLeftOut, roleOf } from '../identity/account.ts';
import { type IdentityProvider, SignInFailed, type SignInSecrets } from '../identity/provider.ts';
import { callbackOf, callbackPath } from '../identity/settings.ts';
import type { Page } from './layout.ts';
import { goingOnPage, noRolePage } from './pages/sign-in.ts';
import { cookieOf, type Person, setCookie } from './session.ts';

interface SignInParts {
  readonly store: Pick<Store, 'addAudit' | 'endSession' | 'isSessionEnded'>;
  readonly box: SealedBox;
  readonly log: Logger;
  readonly publicUrl: () => string;
  /** The header of a new session. */
  begin(person: Person): string[];
}

interface UnderWay extends SignInSecrets {
  readonly next: string;
  readonly startedMs: number;
}

const sealedFor = ['console sign-in under way', ''] as const;

const failed = (detail: string, status = 400) =>
  new Refusal([{ category: 'AUTHENTICATION_ERROR', code: 'SIGN_IN_FAILED', detail }], [], status);

const cookieNameOf = (state: string) => `partner_network_sign_in_${hash('sha256', state).slice(0, 16)}`;

const badSubject = (host: string) =>
  `The identity provider ${host} sent an account whose subject is empty, too long or not readable. ` +
  'Ask an administrator of the provider.';

const notHere =
  'This browser has no sign-in under way that belongs to this address: it was used already, is older than ' +
  '10 minutes, or the browser keeps no cookies. Allow cookies for this address, and sign in again.';

export class SignIn {
  readonly #provider: IdentityProvider;
  readonly #parts: SignInParts;
  readonly #lastEntries = new Map<string, number>();

  constructor(provider: IdentityProvider, parts: SignInParts) {
    this.#provider = provider;
    this.#parts = parts;
  }

  /** Sends the browser to the provider. */
  async start(exchange: Exchange, next: string): Promise<string> {
    const { box, publicUrl } = this.#parts;
    const started = this.#provider.start(callbackOf(publicUrl()));
    const { to, secrets } = await started.catch((error) => this.#refuse(error, exchange));
    const underWay: UnderWay = { ...secrets, next, startedMs: Date.now() };
    exchange.headers.push(...this.#cookie(secrets.state, box.seal(sealedFor, JSON.stringify(underWay))));
    return redirect(exchange, to);
  }

  /**
   * Takes the answer of the provider. Its page goes on by itself, because browsers do not send the cookie of
   * a session on the way back from another site.
   */
  async finish(exchange: Exchange): Promise<Page> {
    const [state = '', another] = new URLSearchParams(exchange.query).getAll('state');
    const underWay = await this.#take(exchange, another === undefined ? state : '');
    const address = new URL(`${callbackOf(this.#parts.publicUrl())}?${exchange.query}`);
    const finished = this.#provider.finish(address, underWay);
    const claims = await finished.catch((error) => this.#refuse(error, exchange));
    const { settings, host } = this.#provider;
    const account = accountOf(claims);
    if (account === undefined)
      return this.#refuse(new SignInFailed(403, 'the subject cannot be stored', badSubject(host)), exchange);
    const role = roleOf(claims, settings);
    if (role === undefined) {
      await this.#note(account, 'refused');
      exchange.status = 403;
      exchange.code = 'INSUFFICIENT_ROLE';
      return noRolePage(
        account,
        settings,
        isClaimLeftOut(claims, settings['oidc-role-claim']),
        exchange.requestId,
      );
    }
    await this.#note(account, 'signed in', role);
    exchange.headers.push(...this.#parts.begin({ ...account, role }));
    return goingOnPage('You are signed in', underWay.next);
  }

  /** The address that signs out at the provider. A provider that is down does not keep a person here. */
  async signOutAddress(exchange: Exchange): Promise<string | undefined> {
    return this.#provider.signOutAddress().catch((error) => {
      if (error instanceof SignInFailed) return void this.#log(error, exchange);
      throw error;
    });
  }

  /** Sign-ins in several tabs each have a cookie. */
  #cookie(state: string, text: string): string[] {
    return setCookie(this.#parts.publicUrl(), cookieNameOf(state), text, identityBounds.underWayMs, {
      path: callbackPath,
      sameSite: 'Lax',
    });
  }

  /** The sign-in that a state names. It ends here: a state is used once, on all instances. */
  async #take(exchange: Exchange, state: string): Promise<UnderWay> {
    const { box, store } = this.#parts;
    const opened = box.open(sealedFor, cookieOf(exchange.rawHeaders, cookieNameOf(state)) ?? '');
    const underWay: UnderWay | undefined = opened && JSON.parse(opened);
    if (underWay?.state !== state) throw failed(notHere);
    exchange.headers.push(...this.#cookie(state, ''));
    const ageMs = Date.now() - underWay.startedMs;
    const isOver = ageMs >= identityBounds.underWayMs || ageMs < -adminBounds.sessionAheadMs;
    const digest = hash('sha256', state, 'buffer');
    if (isOver || (await store.isSessionEnded(digest))) throw failed(notHere);
    const until = toTime(underWay.startedMs + identityBounds.underWayMs + adminBounds.sessionAheadMs);
    await whileLocked(() => store.endSession(digest, until), adminBounds.lockMs);
    return underWay;
  }

  /** Writes an entry about a sign-in: at most one a minute for an account and outcome. */
  async #note({ name, subject, issuer }: Account, outcome: 'signed in' | 'refused', role?: AdminRole) {
    const entries = this.#lastEntries;
    const key = JSON.stringify([subject, outcome]);
    const nowMs = performance.now();
    if (nowMs - (entries.get(key) ?? Number.NEGATIVE_INFINITY) < identityBounds.auditMs) return;
    if (entries.size >= identityBounds.auditAccounts) entries.clear();
    entries.set(key, nowMs);
    const by = { actor: `person:${name}`, action: 'console sign-in' } as const;
    const entry = { outcome, role, subject, issuer };
    await whileLocked(() => this.#parts.store.addAudit(by, 'console', entry), adminBounds.lockMs);
  }

  #log({ reason }: SignInFailed, { requestId }: Exchange): void {
    this.#parts.log.warn({ request_id: requestId, reason }, 'the identity provider failed');
  }

  /** Throws a failure at the provider as a page for the person. The log has its reason. */
  #refuse(error: unknown, exchange: Exchange): never {
    if (!(error instanceof SignInFailed)) throw error;
    this.#log(error, exchange);
    throw failed(error.message, error.status);
  }
}
