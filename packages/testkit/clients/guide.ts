/** What a partner reads in the guide that a service has about a client. */
import assert from 'node:assert/strict';

/** The code blocks of a guide, in order: commands for a terminal, then programs. */
export async function codeOfGuide(service: string, name: string): Promise<string[]> {
  const response = await fetch(`${service}/docs/guides/${name}`);
  assert.equal(response.status, 200);
  const blocks = (await response.text()).matchAll(/<pre><code>(.*?)<\/code><\/pre>/gs);
  return Array.from(blocks, ([, code = '']) =>
    code.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  );
}
