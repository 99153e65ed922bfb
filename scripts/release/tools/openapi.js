import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import owasp from '@stoplight/spectral-owasp-ruleset';
import spectralRulesets from '@stoplight/spectral-rulesets';

export async function lintByRedocly(source) {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, location, message }) => ({
    rule: ruleId,
    place: location[0]?.pointer ?? '',
    message,
  }));
}

export async function lintBySpectral(source) {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({
    extends: [
      [spectralRulesets.oas, 'all'],
      [owasp, 'all'],
    ],
  });
  const problems = await spectral.run(source);
  return problems.map(({ code, path, message }) => ({ rule: String(code), place: path.join('/'), message }));
}
