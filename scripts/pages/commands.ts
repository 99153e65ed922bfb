import { describedCommands } from '../../packages/partner-network/src/main.ts';
import { slugOf } from '../../packages/service/src/reference/guides.ts';
import { table } from './markdown.ts';

const introduction = `# Commands

Every command of \`partner-network\`, with the text of its \`--help\`. In a checkout, put \`npx\` before
each command. \`partner-network --version\` prints the version. [Settings](settings.md) lists all
flags and variables with their defaults.

| exit status | meaning |
|---|---|
| 0 | the command did what it should |
| 1 | it failed, or it found a fault; the message on standard error says what to do |
| 2 | the command line or a variable is wrong; nothing was done |
`;

export async function commandsPage(): Promise<string> {
  const groups = await describedCommands();
  const overview = groups.map(({ heading, commands }) => {
    const rows = commands.map(({ name, summary }) => [`[\`${name}\`](#${slugOf(name)})`, summary]);
    return `**${heading}:**\n\n${table(['command', 'purpose'], rows)}`;
  });
  const sections = groups.flatMap(({ commands }) =>
    commands.map(({ name, help }) => `## ${name}\n\n\`\`\`text\n${help}\n\`\`\`\n`),
  );
  return [introduction, ...overview, ...sections].join('\n');
}
