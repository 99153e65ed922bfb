/**
 * Signs people in at an identity provider by OpenID Connect: authorization code with PKCE. The library checks
 * state, nonce, issuer, audience, times and the signature of the ID token.
 */
import { identityBounds } from '@partner-network/common/bounds/operator';
import { echo, isLocal } from '@partner-network/common/text';
import type { Configuration, ServerMetadata } from 'openid-client';
import type { Claims } from './account.ts';
import type { OidcSettings } from './settings.ts';

/** What a sign-in under way must remember, and nobody else may know. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A sign-in that failed, in words for the person. The cause is for the log. */
export class SignInFailed extends Error {
  readonly status: number;
  /** A word for the log, which holds nothing of a token. */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** An answer of the provider that is not read. */
class BadAnswer extends Error {}

const loadLibrary = () => import('openid-client');
type Library = Awaited<ReturnType<typeof loadLibrary>>;

/** The keys of the provider, and when they were fetched, in seconds. */
type Keys = Parameters<Library['setJwksCache']>[1];

const nowSeconds = () => Math.floor(Date.now() / 1_000);

export class IdentityProvider {
  readonly settings: OidcSettings;
  #server: Promise<ServerMetadata> | undefined;
  /** When the provider was asked, by `performance.now()`. */
  #askedMs = 0;
  #hasFailed = false;
  #keys: Keys | undefined;

  constructor(settings: OidcSettings) {
    this.settings = settings;
  }

  /** The host of the provider, for texts. */
  get host(): string {
    return this.settings.issuer.host;
  }

  /** The address of the provider that asks the person to sign in. */
  async start(callback: string): Promise<{ readonly to: string; readonly secrets: SignInSecrets }> {
    const library = await loadLibrary();
    const configuration = await this.#connect(library);
    const secrets = {
      state: library.randomState(),
      nonce: library.randomNonce(),
      verifier: library.randomPKCECodeVerifier(),
    };
    const to = library.buildAuthorizationUrl(configuration, {
      redirect_uri: callback,
      scope: this.settings.scopes,
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await library.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
    });
    return { to: this.#browserAddress(to), secrets };
  }

  /** The claims of the person, from the address to which the provider sent the browser back. */
  async finish(address: URL, { state, nonce, verifier }: SignInSecrets): Promise<Claims> {
    const library = await loadLibrary();
    const configuration = await this.#connect(library);
    const keptSeconds = this.#keys?.uat;
    if (this.#keys !== undefined) library.setJwksCache(configuration, agedKeys(this.#keys));
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await library.authorizationCodeGrant(configuration, address, checks);
      const claims = tokens.claims()!;
      if (claims.iat > nowSeconds() + identityBounds.toleranceSeconds) throw clocksDiffer();
      return await this.#withUserInfo(library, configuration, claims, tokens.access_token);
    } catch (error) {
      this.#hasFailed = true;
      throw failureOf(error, library, this.host);
    } finally {
      const fetched = library.getJwksCache(configuration);
      if (fetched !== undefined && fetched.uat > (keptSeconds ?? 0)) this.#keys = fetched;
    }
  }

  /** Some providers leave groups and name out of the ID token, and answer them when they are asked. */
  async #withUserInfo(
    library: Library,
    configuration: Configuration,
    claims: Claims & { readonly sub: string },
    accessToken: string,
  ): Promise<Claims> {
    const isWhole =
      this.settings.roleClaim in claims && ('email' in claims || 'preferred_username' in claims);
    if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    return { ...(await library.fetchUserInfo(configuration, accessToken, claims.sub)), ...claims };
  }

  /** The address that ends the session at the provider, if it has one. */
  async signOutAddress(): Promise<string | undefined> {
    const library = await loadLibrary();
    const configuration = await this.#connect(library);
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return this.#browserAddress(library.buildEndSessionUrl(configuration, {}));
  }

  /** An address to which a browser is sent. */
  #browserAddress(url: URL): string {
    if (isSafe(url.href)) return url.href;
    throw new SignInFailed(503, 'an address without TLS', notAsAsked(this.host));
  }

  /** Each sign-in has a configuration of its own, because the library keeps keys for as long as one is used. */
  async #connect(library: Library): Promise<Configuration> {
    const { clientId, clientSecret } = this.settings;
    const authentication =
      clientSecret === undefined ? library.None() : library.ClientSecretBasic(clientSecret);
    const metadata = { [library.clockTolerance]: identityBounds.toleranceSeconds };
    const server = await this.#discovered(library);
    const configuration = new library.Configuration(server, clientId, metadata, authentication);
    configuration[library.customFetch] = boundedFetch;
    if (isLocal(this.settings.issuer.href)) library.allowInsecureRequests(configuration);
    // Otherwise the library trusts a token that comes directly from the provider without its signature.
    library.enableNonRepudiationChecks(configuration);
    return configuration;
  }

  /** What the provider says of itself. After a failure it is asked again, at most once in 10 seconds. */
  #discovered(library: Library): Promise<ServerMetadata> {
    const isOld = performance.now() - this.#askedMs >= identityBounds.askAgainMs;
    if (this.#server === undefined || (this.#hasFailed && isOld)) {
      this.#askedMs = performance.now();
      this.#hasFailed = false;
      this.#server = this.#discover(library).catch((error) => {
        this.#hasFailed = true;
        throw failureOf(error, library, this.host);
      });
    }
    return this.#server;
  }

  async #discover(library: Library): Promise<ServerMetadata> {
    const { issuer, clientId } = this.settings;
    const execute = isLocal(issuer.href) ? [library.allowInsecureRequests] : [];
    const options = { [library.customFetch]: boundedFetch, execute };
    const found = await library.discovery(issuer, clientId, undefined, library.None(), options);
    const server = found.serverMetadata();
    // The library takes the shared addresses of some providers for each of their customers.
    if (new URL(server.issuer).href === issuer.href) return { ...server };
    throw new BadAnswer('the discovery document names another issuer');
  }
}

/** The library looks for an unknown key id again when its keys are a minute old. Here 10 seconds are enough. */
function agedKeys({ jwks, uat }: Keys): Keys {
  const age = nowSeconds() - uat;
  const isOld = age >= identityBounds.askAgainMs / 1_000;
  return { jwks, uat: isOld ? Math.min(uat, nowSeconds() - 60) : uat };
}

const isSafe = (address: string) => address.startsWith('https://') || isLocal(address);

/** Follows no redirect, and reads a bounded answer within a bounded time. */
const boundedFetch: NonNullable<Configuration[typeof import('openid-client').customFetch]> = async (
  address,
  { method, headers, body },
) => {
  if (!isSafe(address)) throw new BadAnswer('an address of the provider has no TLS');
  const signal = AbortSignal.timeout(identityBounds.fetchMs);
  const request = { method, headers, body: body ?? null, redirect: 'manual', signal } as const;
  const response = await fetch(address, request);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > identityBounds.answerBytes) throw new BadAnswer('an answer of the provider is too large');
    chunks.push(chunk);
  }
  const content = bytes === 0 ? null : Buffer.concat(chunks);
  return new Response(content, { status: response.status, headers: response.headers });
};

const again = 'Sign in again.';
const byOperator = 'If this stays, ask an operator, who finds the reason in the log of this service.';

const notAsAsked = (host: string) =>
  `The identity provider ${host} cannot be reached, or does not answer as it should. Try again in a moment. ${byOperator}`;

const clocksDiffer = () =>
  new SignInFailed(
    503,
    'clocks differ',
    'The clocks of this service and of the identity provider differ by more than a minute, so nobody was ' +
      'signed in. An operator must set the clocks.',
  );

/** What failed, in words for a person. Texts of the provider are not repeated, except codes of errors. */
function failureOf(error: unknown, library: Library, host: string): SignInFailed {
  if (error instanceof SignInFailed) return error;
  if (error instanceof library.AuthorizationResponseError) {
    const code = echo(error.error, 64);
    return new SignInFailed(403, code, `The identity provider refused the sign-in (${code}). ${again}`);
  }
  if (error instanceof library.ResponseBodyError) {
    const code = echo(error.error, 64);
    if (error.error === 'invalid_grant')
      return new SignInFailed(400, code, `This sign-in was used already, or is too old. ${again}`);
    return new SignInFailed(
      503,
      code,
      `The identity provider does not accept this service (${code}). An operator must compare the client id and the secret.`,
    );
  }
  const { code = '', message, cause } = error as Error & { code?: string };
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return clocksDiffer();
  const reason = `${code} ${message} ${(cause as { code?: string } | undefined)?.code ?? ''}`.trim();
  const isAboutToken =
    /JWT|ID_TOKEN|UNSUPPORTED|INVALID_RESPONSE|KEY_SELECTION|PARSE/.test(code) && !code.includes('JSON');
  if (!isAboutToken) return new SignInFailed(503, reason, notAsAsked(host));
  const detail = 'What the identity provider answered cannot be trusted, so nobody was signed in.';
  return new SignInFailed(403, reason, `${detail} ${again} ${byOperator}`);
}
