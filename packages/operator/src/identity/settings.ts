/** The settings of sign-in with an identity provider, and what must be true between them. */
import {
  addedIn,
  durationMs,
  type Option,
  orInFile,
  Problem,
  plainText,
  setting,
  type Values,
  variableOnly,
} from '@partner-network/common/command-line/options';
import { isLocal, isWebAddress } from '@partner-network/common/text';
import { type AdminRole, peopleRoles } from '@partner-network/contract/permissions';

export const callbackPath = '/console/sign-in/callback';

/** The address to register at the provider. */
export const callbackOf = (publicUrl: string): string => publicUrl + callbackPath;

/** Also the largest number of characters of a value of the claim. */
const text = plainText(256);

/** Unlike other addresses, an issuer may end with a slash: it is compared as a whole. */
function issuerUrl(given: string): URL | Problem {
  const isSecure = given.startsWith('https://') || isLocal(given);
  return isSecure && isWebAddress(given) && !/[?#]/.test(given)
    ? new URL(given)
    : new Problem('must begin with https:// (or be http on a loopback host), without a query or fragment.');
}

function sessionMs(given: string): number | Problem {
  const ms = durationMs(given);
  if (ms instanceof Problem) return ms;
  return ms >= 15 * 60_000 && ms <= 8 * 3_600_000 ? ms : new Problem('must be from 15m to 8h.');
}

/** A value of the claim, and the role that it gives. */
type MappedRole = readonly [value: string, role: AdminRole];

/** A value may have commas and equals signs, as names of groups in LDAP do. */
const roleOption: Option<readonly MappedRole[]> = {
  valueName: 'VALUE=ROLE',
  variable: 'ADMIN_OIDC_ROLES',
  isRepeatable: true,
  help: `gives VIEWER, SUPPORT or ADMIN to a value of the claim; the variable takes several, separated by commas`,
  resolve: (texts) => {
    const ends = peopleRoles.join('|');
    const pairs = texts.flatMap((given) => given.split(new RegExp(`(?<==(?:${ends})),`)));
    const mapped = pairs.map((pair) => new RegExp(`^(.+)=(${ends})$`).exec(pair.trim()));
    if (mapped.includes(null))
      return new Problem(`must be VALUE=ROLE, with a role of ${peopleRoles.join(', ')}.`);
    return mapped.map((found) => [found![1]!, found![2] as AdminRole]);
  },
};

/** A flag without a value, whose variable is true or false. */
const only: Option<boolean> = {
  variable: 'ADMIN_OIDC_ONLY',
  help: 'refuse keys in the console; the API still takes them',
  resolve: ([given]) => {
    if (given === undefined || given === 'false') return false;
    // The flag itself has an empty text.
    return given === '' || given === 'true' || new Problem('must be true or false.');
  },
};

export const oidcSettings = addedIn('0.3.0', {
  'oidc-issuer': setting(
    'URL',
    'ADMIN_OIDC_ISSUER',
    issuerUrl,
    undefined,
    'identity provider with which people sign in to the console',
  ),
  'oidc-client-id': setting(
    'ID',
    'ADMIN_OIDC_CLIENT_ID',
    text,
    undefined,
    'name of this service at the provider',
  ),
  'oidc-client-secret': orInFile(
    variableOnly(
      'ADMIN_OIDC_CLIENT_SECRET',
      text,
      'secret of this service at the provider; absent for a public client',
    ),
  ),
  'oidc-role-claim': setting(
    'NAME',
    'ADMIN_OIDC_ROLE_CLAIM',
    text,
    'groups',
    'claim whose values give roles',
  ),
  'oidc-role': roleOption,
  'oidc-scopes': setting('TEXT', 'ADMIN_OIDC_SCOPES', text, 'openid profile email', 'scopes to ask for'),
  'oidc-session': {
    ...setting('DURATION', 'ADMIN_OIDC_SESSION', sessionMs, 3_600_000, 'length of a session, 15m to 8h'),
    default: '1h',
  },
  'oidc-only': only,
});

/** The sign-in, as it is configured. */
export interface OidcSettings {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly roleClaim: string;
  readonly roles: readonly MappedRole[];
  readonly scopes: string;
  readonly sessionMs: number;
  /** Whether keys are refused in the console. */
  readonly isOnly: boolean;
}

type OidcConfig = Values<typeof oidcSettings>;

/** Undefined without an issuer: then people sign in with keys. */
export function resolveOidc(config: OidcConfig): OidcSettings | undefined {
  const issuer = config['oidc-issuer'];
  return (
    issuer && {
      issuer,
      clientId: config['oidc-client-id'] ?? '',
      clientSecret: config['oidc-client-secret'],
      roleClaim: config['oidc-role-claim'],
      roles: config['oidc-role'],
      scopes: config['oidc-scopes'],
      sessionMs: config['oidc-session'],
      isOnly: config['oidc-only'],
    }
  );
}

/** What is wrong between these settings. `publicUrl` is undefined if it is made from a local address. */
export function conflictsOfOidc(config: OidcConfig, publicUrl: string | undefined): string[] {
  if (config['oidc-issuer'] === undefined) {
    const given = Object.entries({
      '--oidc-only': config['oidc-only'],
      '--oidc-client-id': config['oidc-client-id'] !== undefined,
      '--oidc-role': config['oidc-role'].length > 0,
    });
    return given.flatMap(([name, isGiven]) => (isGiven ? `${name} needs --oidc-issuer.` : []));
  }
  const isSecure = publicUrl === undefined || publicUrl.startsWith('https:') || isLocal(publicUrl);
  return [
    ...(config['oidc-client-id'] === undefined ? ['--oidc-issuer needs --oidc-client-id.'] : []),
    ...(config['oidc-role'].length === 0
      ? ['--oidc-issuer needs --oidc-role at least once, such as --oidc-role operators=SUPPORT.']
      : []),
    ...(config['oidc-scopes'].split(' ').includes('openid') ? [] : ['--oidc-scopes must contain openid.']),
    ...(isSecure ? [] : ['With --oidc-issuer, --public-url must begin with https://.']),
  ];
}
