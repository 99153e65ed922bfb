/**
 * Signs people in at an identity provider by OpenID Connect: authorization code with PKCE. The library checks
 * state, nonce, issuer, audience, times and the signature of the ID token.
 */
import { identityBounds } from '@partner-network/common/bounds/operator';
import { echo, isLocal } from '@partner-network/common/text';
import type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';
import type { Claims } from './account.ts';
import type { OidcSettings } from './settings.ts';

/** What a sign-in under way must remember, and nobody else may know. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A sign-in that failed: a sentence for the person, and the reason for the log, without a token. */
export class SignInFailed extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

const loadLibrary = () => import('openid-client');
type Library = Awaited<ReturnType<typeof loadLibrary>>;

/** The keys of the provider, and when they were fetched, in seconds. */
type Keys = Parameters<Library['setJwksCache']>[1];

const { toleranceSeconds, askAgainMs } = identityBounds;
const nowSeconds = () => Math.floor(Date.now() / 1_000);
const isSafe = (address: string) => address.startsWith('https://') || isLocal(address);

export class IdentityProvider {
  readonly settings: OidcSettings;
  /** The host of the provider, for texts. */
  readonly host: string;
  #server: Promise<ServerMetadata> | undefined;
  /** When the provider was asked, by `performance.now()`. */
  #askedMs = 0;
  #hasFailed = false;
  #keys: Keys | undefined;

  constructor(settings: OidcSettings) {
    this.settings = settings;
    this.host = settings['oidc-issuer'].host;
  }

  /** The address of the provider that asks the person to sign in. */
  async start(callback: string): Promise<{ readonly to: string; readonly secrets: SignInSecrets }> {
    const library = await loadLibrary();
    const configuration = await this.#connect(library);
    const state = library.randomState();
    const nonce = library.randomNonce();
    const verifier = library.randomPKCECodeVerifier();
    const to = library.buildAuthorizationUrl(configuration, {
      redirect_uri: callback,
      scope: this.settings['oidc-scopes'],
      state,
      nonce,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return { to: to.href, secrets: { state, nonce, verifier } };
  }

  /** The claims of the person, from the address to which the provider sent the browser back. */
  async finish(address: URL, { state, nonce, verifier }: SignInSecrets): Promise<Claims> {
    const library = await loadLibrary();
    const configuration = await this.#connect(library);
    const known = this.#keys;
    if (known !== undefined) library.setJwksCache(configuration, agedKeys(known));
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await library.authorizationCodeGrant(configuration, address, checks);
      const claims = tokens.claims()!;
      if (claims.iat > nowSeconds() + toleranceSeconds) throw clocksDiffer();
      if (this.#isWhole(claims, configuration)) return claims;
      return { ...(await library.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
    } catch (error) {
      this.#hasFailed = true;
      throw failureOf(error, this.host);
    } finally {
      const fetched = library.getJwksCache(configuration);
      if (fetched !== undefined && fetched.uat > (known?.uat ?? 0)) this.#keys = fetched;
    }
  }

  /** Some providers leave groups and name out of the ID token, and answer them when they are asked. */
  #isWhole(claims: Claims, configuration: Configuration): boolean {
    const hasName = 'email' in claims || 'preferred_username' in claims;
    const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
    return (hasName && this.settings['oidc-role-claim'] in claims) || !hasMore;
  }

  /** The address that ends the session at the provider, if it has one. */
  async signOutAddress(): Promise<string | undefined> {
    const library = await loadLibrary();
    const configuration = await this.#connect(library);
    const hasOne = configuration.serverMetadata().end_session_endpoint !== undefined;
    return hasOne ? library.buildEndSessionUrl(configuration, {}).href : undefined;
  }

  /** Each sign-in has a configuration of its own: the library keeps keys for as long as one is used. */
  async #connect(library: Library): Promise<Configuration> {
    const server = await this.#discovered(library);
    const secret = this.settings['oidc-client-secret'];
    const authentication = secret === undefined ? library.None() : library.ClientSecretBasic(secret);
    const metadata = { [library.clockTolerance]: toleranceSeconds };
    const id = this.settings['oidc-client-id']!;
    const configuration = new library.Configuration(server, id, metadata, authentication);
    configuration[library.customFetch] = boundedFetch;
    if (isLocal(server.issuer)) library.allowInsecureRequests(configuration);
    // Otherwise the library trusts a token that comes directly from the provider without its signature.
    library.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  /** What the provider says of itself. After a failure it is asked again, at most once in 10 seconds. */
  #discovered(library: Library): Promise<ServerMetadata> {
    const mayAsk = this.#hasFailed && performance.now() - this.#askedMs >= askAgainMs;
    if (this.#server !== undefined && !mayAsk) return this.#server;
    this.#askedMs = performance.now();
    this.#hasFailed = false;
    this.#server = this.#discover(library).catch((error) => {
      this.#hasFailed = true;
      throw failureOf(error, this.host);
    });
    return this.#server;
  }

  async #discover(library: Library): Promise<ServerMetadata> {
    const issuer = this.settings['oidc-issuer'];
    const execute = isLocal(issuer.href) ? [library.allowInsecureRequests] : [];
    const options = { [library.customFetch]: boundedFetch, execute };
    const found = await library.discovery(
      issuer,
      this.settings['oidc-client-id']!,
      {},
      library.None(),
      options,
    );
    const server = found.serverMetadata();
    // The library takes the addresses that all customers of a provider share for each of these customers.
    if (new URL(server.issuer).href !== issuer.href) throw new Error('the provider names another issuer');
    const addresses = [server.authorization_endpoint, server.end_session_endpoint ?? issuer.href];
    if (!addresses.every((address) => isSafe(address ?? ''))) throw new Error('an address has no TLS');
    return { ...server };
  }
}

/** The library looks for an unknown key id again if its keys are a minute old. Here 10 seconds are enough. */
function agedKeys({ jwks, uat }: Keys): Keys {
  const isOld = nowSeconds() - uat >= askAgainMs / 1_000;
  return { jwks, uat: isOld ? Math.min(uat, nowSeconds() - 60) : uat };
}

/** Follows no redirect, and reads a bounded answer within a bounded time. */
const boundedFetch: CustomFetch = async (address, { method, headers, body }) => {
  if (!isSafe(address)) throw new Error('an address has no TLS');
  const signal = AbortSignal.timeout(identityBounds.fetchMs);
  const request = { method, headers, body: body ?? null, redirect: 'manual', signal } as const;
  const response = await fetch(address, request);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > identityBounds.answerBytes) throw new Error('an answer is too large');
    chunks.push(chunk);
  }
  const { status } = response;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers: response.headers });
};

const clocksDiffer = () =>
  new SignInFailed(
    503,
    'the clocks differ',
    'The clocks of this service and of the identity provider differ by more than a minute. An operator ' +
      'must set them.',
  );

const byOperator = 'If this stays, ask an operator, who finds the reason in the log of this service.';

/** Codes of the library for an answer that is wrong in itself. */
const untrusted = /JWT|INVALID_RESPONSE|UNSUPPORTED|PARSE|KEY_SELECTION/;

/** What failed, in words for a person. Texts of the provider are not repeated, except codes of errors. */
function failureOf(thrown: unknown, host: string): SignInFailed {
  if (thrown instanceof SignInFailed) return thrown;
  const { code = '', message, cause, error } = thrown as Error & { code?: string; error?: string };
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return clocksDiffer();
  // Of the endpoint for tokens, and of the address at which the browser came back.
  const refused = error === undefined ? undefined : echo(error, 64);
  if (refused === 'invalid_grant')
    return new SignInFailed(400, refused, 'This sign-in was used already, or is too old. Sign in again.');
  if (refused !== undefined) {
    const detail = `${host} refused the sign-in (${refused}). Sign in again. ${byOperator}`;
    return new SignInFailed(403, refused, detail);
  }
  const reason = `${code} ${message} ${(cause as { code?: string } | undefined)?.code ?? ''}`.trim();
  if (untrusted.test(code) && !code.includes('JSON')) {
    const detail = `What ${host} answered cannot be trusted, so nobody was signed in. Sign in again.`;
    return new SignInFailed(403, reason, `${detail} ${byOperator}`);
  }
  const detail = `The identity provider ${host} cannot be reached, or does not answer as it should.`;
  return new SignInFailed(503, reason, `${detail} Try again in a moment. ${byOperator}`);
}
