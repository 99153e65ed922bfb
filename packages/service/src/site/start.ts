/** The first page of an API, as Markdown. */
import type { Api } from '@partner-network/contract/openapi/document';
import type { Operation } from '@partner-network/contract/operations';

export function startPage<O extends Operation>(
  api: Api<O>,
  lead: string,
  ...files: readonly string[]
): string {
  const { info, keys } = api;
  const [about = '', ...rules] = info.description.split('\n\n');
  const operations = Object.entries(api.operations).map(
    ([id, { summary, method, path }]) => `- [${summary}](/docs/operations/${id}): \`${method} ${path}\``,
  );
  const named = files.map((file) => `- [${file.split('/').at(-1)}](${file})`);
  return `# ${info.title}

${about}

${lead}

## Operations

${operations.join('\n')}

## Rules

${rules.join('\n\n')}

## Keys

${keys.scheme.description}

## For your tools

${named.join('\n')}
- [llms.txt](/llms.txt) lists all pages as Markdown. Each page is Markdown at its address with \`.md\`.
`;
}
