import type { Values } from '@partner-network/common/command-line/options';
import { asOne, type Finding, failed, ok, warning } from '@partner-network/common/finding';
import { originOf } from '@partner-network/common/text';
import { listings } from '@partner-network/contract/operations';
import {
  databaseConfig,
  everyInterface,
  isOnePort,
  type ServeConfig,
} from '@partner-network/service/settings';
import type { oidcSettings } from '../identity/settings.ts';
import { isPublicAddress } from '../images/public-address.ts';

/** The settings of `serve`, and some of the administrative service. */
export type DoctorConfig = ServeConfig &
  Values<typeof oidcSettings> & {
    readonly 'admin-host': string;
    readonly 'admin-port': number;
    readonly 'admin-public-url': string | undefined;
  };

/** Checks settings against each other. Parsing has already checked each setting alone. */
export async function checkSettings(config: DoctorConfig): Promise<Finding> {
  const { host, port, 'ops-host': opsHost, 'public-url': publicUrl } = config;
  const { environment } = databaseConfig(config);
  const isProduction = environment === 'production';
  const findings: Finding[] = [];
  if (isOnePort(config)) {
    const remedy = 'Set --ops-port to another port.';
    findings.push(failed(`--port and --ops-port are both ${port}.`, remedy));
  }
  const url = publicUrl ?? originOf(host, port);
  // Partners get a placeholder image at this address. A sandbox may be local only.
  if (isUncallable(url, isProduction)) {
    const image = `${url}/assets/brand-placeholder.png`;
    const detail = `Brands without an image would have the image ${image}, which partners cannot reach.`;
    findings.push(warning(detail, 'Set --public-url to the address that partners use.'));
  }
  // Metrics show the load, and each readiness check reads from the database: keep both private.
  if (everyInterface.includes(opsHost) || isPublicAddress(opsHost)) {
    const remedy = 'Set --ops-host to an address in your private network, or block its port with a firewall.';
    const detail = `The operations address ${opsHost} needs no key, and other networks may reach it.`;
    findings.push(warning(detail, remedy));
  }
  const { 'admin-host': adminHost } = config;
  if (everyInterface.includes(adminHost) || isPublicAddress(adminHost)) {
    const detail = `The administrative service listens on ${adminHost}, and other networks may reach it.`;
    const remedy = 'Set ADMIN_HOST to a private address, and put a proxy with client certificates before it.';
    findings.push(warning(detail, remedy));
  }
  if (isProduction && config['brands-rate'] === 0) {
    findings.push(warning('List brands has no rate limit in production.', 'Remove --brands-rate 0.'));
  }
  for (const { name, defaultRate } of listings) {
    const rate = config[`${name}-rate`];
    if (defaultRate > 0 && rate > defaultRate) {
      const detail = `--${name}-rate ${rate} is above the rate of the specification, ${defaultRate}.`;
      findings.push(warning(detail, `Remove --${name}-rate, unless you agreed on it with your partners.`));
    }
  }
  return findings.length > 0 ? asOne(findings) : ok(`All settings are valid for ${environment}.`);
}

function isUncallable(url: string, isProduction: boolean): boolean {
  const name = URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';
  return everyInterface.includes(name) || (isProduction && /^127\.|^::1$|(^|\.)localhost$/.test(name));
}
