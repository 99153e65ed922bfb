import { type Finding, failed, ok } from '@partner-network/common/finding';
import { originOf } from '@partner-network/common/text';
import { IdentityProvider, SignInFailed } from '../identity/provider.ts';
import { callbackOf, conflictsOfOidc, hasProvider } from '../identity/settings.ts';
import type { DoctorConfig } from './settings.ts';

/** Checks the settings of sign-in, and whether the identity provider answers. Nobody is signed in. */
export async function checkSignIn(config: DoctorConfig): Promise<Finding> {
  const publicUrl = config['admin-public-url'] ?? originOf(config['admin-host'], config['admin-port']);
  const conflicts = conflictsOfOidc(config, publicUrl);
  if (conflicts.length > 0) {
    const detail = `The settings of sign-in with an identity provider do not fit. ${conflicts.join(' ')}`;
    const remedy = 'Correct the variables ADMIN_OIDC_… and ADMIN_PUBLIC_URL of "partner-network admin".';
    return failed(detail, remedy);
  }
  if (!hasProvider(config))
    return ok('No identity provider is set: people sign in to the console with keys.');
  const callback = callbackOf(publicUrl);
  const provider = new IdentityProvider(config);
  try {
    await provider.start(callback);
  } catch (error) {
    if (!(error instanceof SignInFailed)) throw error;
    const remedy =
      'Compare ADMIN_OIDC_ISSUER with the issuer that the provider names, and try its address from here.';
    return failed(`${provider.host}: ${error.reason}.`, remedy);
  }
  return ok(`${provider.host} answers. The address to register there is ${callback}.`);
}
