/** A small identity provider that answers what a test wants, also what no good provider sends. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { keepSecret } from '../watch/logs.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a test changes in the answers of the provider. */
export interface Script {
  discovery: Json;
  header: Json;
  claims: Json;
  userinfo: Json;
  /** The parts of a token, joined. */
  token?: (signed: string) => string;
  /** Instead of an answer, by path. */
  answer: Record<string, ((response: ServerResponse) => void) | undefined>;
}

const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

/** An HMAC or an RSA signature, as the header says. */
export function signed(header: Json, claims: Json, key: KeyObject): string {
  const content = `${text(header)}.${text(claims)}`;
  if (header.alg === 'none') return `${content}.`;
  if (header.alg === 'HS256') {
    const secret = key.export({ format: 'jwk' }).n ?? 'secret';
    return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
  }
  return `${content}.${sign('sha256', Buffer.from(content), key).toString('base64url')}`;
}

export async function scriptedProvider(t: TestContext) {
  const script: Script = { discovery: {}, header: {}, claims: {}, userinfo: {}, answer: {} };
  const asked: string[] = [];
  const usedCodes = new Set<string>();
  let key = { id: 'key-1', ...newKey() };
  let published = key;
  const nonces = new Map<string, string>();

  const answers: Record<string, (request: IncomingMessage) => Promise<object> | object> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      userinfo_endpoint: `${issuer}/userinfo`,
      end_session_endpoint: `${issuer}/sign-out`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      ...script.discovery,
    }),
    '/keys': () => ({
      keys: [
        { ...published.publicKey.export({ format: 'jwk' }), kid: published.id, use: 'sig', alg: 'RS256' },
      ],
    }),
    '/userinfo': () => ({ sub: 'user-1', ...script.userinfo }),
    '/token': async (request) => {
      const form = new URLSearchParams((await request.toArray()).join(''));
      const code = form.get('code') ?? '';
      if (usedCodes.has(code)) return { error: 'invalid_grant' };
      usedCodes.add(code);
      const now = Math.floor(Date.now() / 1_000);
      const claims = {
        iss: issuer,
        sub: 'user-1',
        aud: 'console',
        iat: now,
        exp: now + 300,
        nonce: nonces.get(code),
        email: 'alice@example.com',
        groups: ['support'],
        ...script.claims,
      };
      const whole = signed({ alg: 'RS256', kid: key.id, ...script.header }, claims, key.privateKey);
      const id_token = script.token?.(whole) ?? whole;
      keepSecret('key', id_token.slice(-40));
      return { access_token: 'access-token-of-the-test', token_type: 'Bearer', expires_in: 60, id_token };
    },
  };

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://provider');
    asked.push(pathname);
    const own = script.answer[pathname];
    if (own !== undefined) return own(response);
    const answer = await answers[pathname]?.(request);
    response.statusCode = answer === undefined ? 404 : 'error' in answer ? 400 : 200;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answer ?? {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  t.after(close);
  return {
    issuer: new URL(issuer),
    script,
    /** The paths that were asked for. */
    asked,
    /** The code for an address to which the service sent a browser. */
    codeFor: (address: string): string => {
      const code = `code-${nonces.size}-${'x'.repeat(20)}`;
      nonces.set(code, new URL(address).searchParams.get('nonce')!);
      keepSecret('key', code);
      return code;
    },
    /** Signs with another key from now on, which is published or not. */
    rotate: (isPublished: boolean) => {
      key = { id: `key-${Math.random()}`, ...newKey() };
      if (isPublished) published = key;
    },
    close,
    open: () => once(server.listen(port, '127.0.0.1'), 'listening'),
  };
}

export type ScriptedProvider = Awaited<ReturnType<typeof scriptedProvider>>;
