/** What doctor says of the settings of sign-in. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedProvider } from '../../../testkit/identity/scripted.ts';
import type { DoctorConfig } from '../../src/doctor/settings.ts';
import { checkSignIn } from '../../src/doctor/sign-in.ts';

/** The finding with these settings. Each is as the command line gives it. */
const findingOf = (settings: object) =>
  checkSignIn({
    'admin-host': '127.0.0.1',
    'admin-port': 8090,
    'admin-public-url': 'https://console.example',
    'oidc-client-id': undefined,
    'oidc-role': [],
    'oidc-role-claim': 'groups',
    'oidc-scopes': 'openid',
    'oidc-session': 900_000,
    'oidc-only': false,
    ...settings,
  } as unknown as DoctorConfig);

test('doctor says whether the provider answers, and the address to register there', async (t) => {
  const { issuer, script, close } = await scriptedProvider(t);
  const set = { 'oidc-issuer': issuer, 'oidc-client-id': 'console', 'oidc-role': [['ops', 'ADMIN']] };
  const detailOf = async (settings: object) => {
    const { status, detail } = await findingOf(settings);
    return `${status}: ${[detail].flat().join(' ')}`;
  };
  assert.match(await detailOf({}), /^ok: No identity provider is set/);
  assert.equal(
    await detailOf(set),
    `ok: ${issuer.host} answers. The address to register there is https://console.example/console/sign-in/callback.`,
  );
  assert.match(await detailOf({ ...set, 'oidc-role': [] }), /^failed: .*--oidc-role at least once/);
  assert.match(await detailOf({ ...set, 'admin-public-url': 'http://console.example' }), /^failed: .*https/);
  script.discovery = { issuer: 'https://another.example' };
  assert.match(await detailOf(set), /^failed: .*issuer/);
  close();
  assert.match(await detailOf(set), /^failed: .*ECONNREFUSED/);
});
