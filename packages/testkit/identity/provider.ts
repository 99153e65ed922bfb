/**
 * A certified identity provider as a process of its own: `node provider.ts PORT CALLBACK`. Each login is an
 * account, in the groups that stand after a dot: `alice.support`. A login without a dot is blocked.
 */
// @ts-expect-error: the package has no types.
import Provider from 'oidc-provider';

const [port, callback] = process.argv.slice(2) as [string, string];
const issuer = `http://localhost:${port}`;

const provider = new Provider(issuer, {
  clients: [{ client_id: 'console', client_secret: 'a-secret-of-the-test', redirect_uris: [callback] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
  conformIdTokenClaims: false,
  cookies: { keys: ['a key of the test'] },
  features: { rpInitiatedLogout: { enabled: true } },
  pkce: { required: () => true },
  findAccount: (_context: unknown, id: string) => {
    const [name, ...groups] = id.split('.');
    const claims = () => ({ sub: id, email: `${name}@example.com`, email_verified: true, groups });
    return { accountId: id, claims };
  },
});
provider.listen(Number(port), 'localhost', () => console.log('listening'));
