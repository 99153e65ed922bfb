/**
 * Signs people in at an identity provider by OpenID Connect: authorization code with PKCE. The library checks
 * state, nonce, issuer, audience, times and the signature of the ID token.
 */
import { identityBounds } from '@partner-network/common/bounds/operator';
import { echo, isLocal, isSecure } from '@partner-network/common/text';
import { Refusal } from '@partner-network/http/refusal';
import type { CustomFetch } from 'openid-client';
import type { Claims } from './account.ts';
import type { OidcSettings } from './settings.ts';

/** What a sign-in under way must remember, and nobody else may know. The library has these names. */
export interface SignInSecrets {
  readonly expectedState: string;
  readonly expectedNonce: string;
  readonly pkceCodeVerifier: string;
}

/** A sign-in that failed: a sentence for the person, and a reason for the log, without a token. */
export class SignInFailed extends Refusal {
  readonly reason: string | undefined;

  constructor(status: number, detail: string, reason?: string) {
    super([{ category: 'AUTHENTICATION_ERROR', code: 'SIGN_IN_FAILED', detail }], [], status);
    this.reason = reason;
  }
}

const { toleranceSeconds, askAgainMs, fetchMs, answerBytes } = identityBounds;

export class IdentityProvider {
  readonly settings: OidcSettings;
  /** The host of the provider, for texts. */
  readonly host: string;
  #connection: ReturnType<typeof connect> | undefined;
  #connectedMs = 0;
  #hasFailed = false;

  constructor(settings: OidcSettings) {
    this.settings = settings;
    this.host = settings['oidc-issuer'].host;
  }

  /** The address of the provider that asks the person to sign in. */
  async start(
    callback: string,
    prompt?: 'login',
  ): Promise<{ readonly to: string; readonly secrets: SignInSecrets }> {
    const { library, configuration } = await this.#connected();
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
      ...(prompt && { prompt }),
    });
    const secrets = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
    return { to: to.href, secrets };
  }

  /** The claims of the person, from the address to which the provider sent the browser back. */
  async finish(address: URL, secrets: SignInSecrets): Promise<Claims> {
    const { library, configuration } = await this.#connected();
    try {
      const tokens = await library.authorizationCodeGrant(configuration, address, secrets);
      const claims = tokens.claims()!;
      if (claims.iat > Date.now() / 1_000 + toleranceSeconds) throw clocksDiffer;
      // Some providers leave groups and name out of the ID token, and answer them when they are asked.
      const hasName = 'email' in claims || 'preferred_username' in claims;
      const hasAll = hasName && this.settings['oidc-role-claim'] in claims;
      if (hasAll || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
      return { ...(await library.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
    } catch (error) {
      this.#hasFailed = true;
      throw failureOf(error, this.host);
    }
  }

  /** The address that ends the session at the provider, if it has one. */
  async signOutAddress(): Promise<string | undefined> {
    const { library, configuration } = await this.#connected();
    const hasOne = configuration.serverMetadata().end_session_endpoint !== undefined;
    return hasOne ? library.buildEndSessionUrl(configuration, {}).href : undefined;
  }

  /**
   * What the provider says of itself is kept until a sign-in fails, and is asked at most once in 10 seconds.
   * The library keeps the keys with it, and asks for an unknown key again if they are a minute old.
   */
  #connected(): ReturnType<typeof connect> {
    // The clock may have been set back.
    const isRecent = Math.abs(Date.now() - this.#connectedMs) < askAgainMs;
    if (this.#connection !== undefined && (isRecent || !this.#hasFailed)) return this.#connection;
    this.#connectedMs = Date.now();
    this.#hasFailed = false;
    const known = this.#connection;
    this.#connection = connect(this.settings).catch((error) => {
      this.#hasFailed = true;
      if (known !== undefined) return known;
      throw failureOf(error, this.host);
    });
    return this.#connection;
  }
}

/** Loads the library, and asks the provider what it says of itself. The library keeps its keys with that. */
async function connect(settings: OidcSettings) {
  const library = await import('openid-client');
  const issuer = settings['oidc-issuer'];
  const secret = settings['oidc-client-secret'];
  const configuration = await library.discovery(
    issuer,
    settings['oidc-client-id']!,
    { [library.clockTolerance]: toleranceSeconds },
    secret === undefined ? library.None() : library.ClientSecretBasic(secret),
    {
      [library.customFetch]: boundedFetch,
      timeout: fetchMs / 1_000,
      // Otherwise the library trusts a token that comes directly from the provider without its signature.
      execute: [
        library.enableNonRepudiationChecks,
        ...(isLocal(issuer.href) ? [library.allowInsecureRequests] : []),
      ],
    },
  );
  const server = configuration.serverMetadata();
  // The library takes the addresses that all customers of a provider share for each of these customers.
  if (new URL(server.issuer).href !== issuer.href) throw new Error('the provider names another issuer');
  const addresses = [server.authorization_endpoint ?? '', server.end_session_endpoint ?? issuer.href];
  if (!addresses.every(isSecure)) throw new Error('an address has no TLS');
  return { library, configuration };
}

/** Reads a bounded answer. The library follows no redirect, and ends the request after its timeout. */
const boundedFetch: CustomFetch = async (address, { body, ...options }) => {
  if (!isSecure(address)) throw new Error('an address has no TLS');
  const response = await fetch(address, { ...options, body: body ?? null });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytes) throw new Error('an answer is too large');
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers });
};

const clocksDiffer = new SignInFailed(
  503,
  'The clocks of this service and of the identity provider differ by more than a minute. An operator must ' +
    'set them.',
  'the clocks differ',
);

const byOperator = 'If this stays, ask an operator, who finds the reason in the log of this service.';

/** Codes of the library for an answer that is wrong in itself. */
const untrusted = /JWT|INVALID_RESPONSE|UNSUPPORTED|PARSE|KEY_SELECTION/;

/** What failed, in words for a person. Texts of the provider are not repeated, except codes of errors. */
function failureOf(thrown: unknown, host: string): SignInFailed {
  if (thrown instanceof SignInFailed) return thrown;
  const { code = '', message, cause, error } = thrown as Error & { code?: string; error?: string };
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return clocksDiffer;
  // Of the endpoint for tokens, and of the address at which the browser came back. A provider that does not
  // know the secret may answer with a challenge instead.
  const isChallenge = code === 'OAUTH_WWW_AUTHENTICATE_CHALLENGE';
  const refused = isChallenge ? 'invalid_client' : error && echo(error, 64);
  if (refused === 'invalid_grant') {
    return new SignInFailed(400, 'This sign-in was used already, or is too old. Sign in again.', refused);
  }
  if (refused === 'invalid_client' || refused === 'unauthorized_client') {
    const detail = `${host} does not accept this service (${refused}).`;
    return new SignInFailed(503, `${detail} An operator must compare the client id and its secret.`, refused);
  }
  if (refused !== undefined) {
    const detail = `${host} refused the sign-in (${refused}). Sign in again. ${byOperator}`;
    return new SignInFailed(403, detail, refused);
  }
  const reason = `${code} ${message} ${(cause as { code?: string } | undefined)?.code ?? ''}`.trim();
  if (untrusted.test(code) && !code.includes('JSON')) {
    const detail = `What ${host} answered cannot be trusted, so nobody was signed in. Sign in again.`;
    return new SignInFailed(403, `${detail} ${byOperator}`, reason);
  }
  const detail = `The identity provider ${host} cannot be reached, or does not answer as it should.`;
  return new SignInFailed(503, `${detail} Try again in a moment. ${byOperator}`, reason);
}
