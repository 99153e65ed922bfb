/** The settings of sign-in with an identity provider, and what must be true between them. */
import {
  addedIn,
  durationMs,
  type Option,
  Problem,
  plainText,
  setting,
  type Values,
  variableOnly,
} from '@partner-network/common/command-line/options';
import { isSecure, isWebAddress } from '@partner-network/common/text';
import { type AdminRole, peopleRoles } from '@partner-network/contract/permissions';

export const callbackPath = '/console/sign-in/callback';

/** The address to register at the provider. */
export const callbackOf = (publicUrl: string): string => publicUrl + callbackPath;

/** Unlike other addresses, an issuer may end with a slash: it is compared as a whole. */
function issuerUrl(given: string): URL | Problem {
  if (isSecure(given) && isWebAddress(given) && !/[?#]/.test(given)) return new URL(given);
  return new Problem('must begin with https://, or http:// on a loopback host, without a query or fragment.');
}

function sessionMs(given: string): number | Problem {
  const ms = durationMs(given);
  return ms instanceof Problem || (ms >= 900_000 && ms <= 8 * 3_600_000)
    ? ms
    : new Problem('must be from 15m to 8h.');
}

/** A value of the claim, and the role that it gives. In a flag it may have commas, as names of LDAP have. */
const roleOption: Option<readonly (readonly [value: string, role: AdminRole])[]> = {
  valueName: 'VALUE=ROLE',
  variable: 'ADMIN_OIDC_ROLES',
  isRepeatable: true,
  help: 'role of a value: VIEWER, SUPPORT or ADMIN; the variable takes several, separated by commas',
  resolve: (texts, flags) => {
    const roles = peopleRoles.join('|');
    const end = new RegExp(`(?<==(?:${roles})),`);
    const pairs = flags.has('oidc-role') ? texts : texts.flatMap((given) => given.split(end));
    const mapped = pairs.map((pair) => new RegExp(`^(.+)=(${roles})$`).exec(pair.trim()));
    if (mapped.includes(null)) return new Problem(`must be VALUE=ROLE, with the role ${roles}.`);
    return mapped.map((found) => [found![1]!, found![2] as AdminRole]);
  },
};

/** A flag without a value, whose text is empty, and whose variable is true or false. */
const only: Option<boolean> = {
  variable: 'ADMIN_OIDC_ONLY',
  help: 'refuse keys in the console; the API still takes them',
  resolve: ([given = 'false']) =>
    ['', 'true', 'false'].includes(given) ? given !== 'false' : new Problem('must be true or false.'),
};

const text = plainText(256);
const secretHelp = 'secret of this service at the provider; without one, it is a public client';

export const oidcSettings = addedIn('0.3.0', {
  'oidc-issuer': setting('URL', 'ADMIN_OIDC_ISSUER', issuerUrl, undefined, 'identity provider of people'),
  'oidc-client-id': setting('ID', 'ADMIN_OIDC_CLIENT_ID', text, undefined, 'this service at the provider'),
  'oidc-client-secret': { ...variableOnly('ADMIN_OIDC_CLIENT_SECRET', text, secretHelp), hasFile: true },
  'oidc-role-claim': setting('NAME', 'ADMIN_OIDC_ROLE_CLAIM', text, 'groups', 'claim that gives roles'),
  'oidc-role': roleOption,
  'oidc-scopes': setting('TEXT', 'ADMIN_OIDC_SCOPES', text, 'openid profile email', 'scopes to ask for'),
  'oidc-session': {
    ...setting('DURATION', 'ADMIN_OIDC_SESSION', sessionMs, 3_600_000, 'length of a session, 15m to 8h'),
    default: '1h',
  },
  'oidc-only': only,
});

type OidcConfig = Values<typeof oidcSettings>;

/** The settings of a service with an identity provider. */
export type OidcSettings = OidcConfig & { readonly 'oidc-issuer': URL };

/** Whether people can sign in with a provider. Otherwise they sign in with keys. */
export const hasProvider = (config: OidcConfig): config is OidcSettings =>
  config['oidc-issuer'] !== undefined;

/** What is wrong between these settings. */
export function conflictsOfOidc(config: OidcConfig, publicUrl: string): string[] {
  const hasClient = config['oidc-client-id'] !== undefined;
  const hasRole = config['oidc-role'].length > 0;
  const wrong = hasProvider(config)
    ? [
        !hasClient && '--oidc-issuer needs --oidc-client-id.',
        !hasRole && '--oidc-issuer needs --oidc-role at least once, such as --oidc-role operators=SUPPORT.',
        !config['oidc-scopes'].split(' ').includes('openid') && '--oidc-scopes must contain openid.',
        !isSecure(publicUrl) && '--oidc-issuer needs a --public-url with https://.',
      ]
    : [
        config['oidc-only'] && '--oidc-only needs --oidc-issuer.',
        hasClient && '--oidc-client-id needs --oidc-issuer.',
        hasRole && '--oidc-role needs --oidc-issuer.',
      ];
  return wrong.filter((sentence) => sentence !== false);
}
