/** What a partner reads in the guide that a service has about a client. */
import assert from 'node:assert/strict';

/** The code blocks of a guide, in order: commands for a terminal, then programs. */
export async function codeOfGuide(service: string, name: string): Promise<string[]> {
  const response = await fetch(`${service}/docs/guides/${name}.md`);
  assert.equal(response.status, 200);
  return Array.from((await response.text()).matchAll(/^```[^\n]*\n(.*?)^```$/gms), ([, code = '']) => code);
}
