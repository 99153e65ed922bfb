import { fileVariable, type Option } from '../../packages/common/src/command-line/options.ts';
import { commonOptions } from '../../packages/operator/src/commands/database.ts';
import { describedCommands } from '../../packages/partner-network/src/main.ts';
import { code, paragraph, table, withCode } from './markdown.ts';

const firstVersion = '0.1.0';

const introduction = `# Settings

Every flag and environment variable of every command. A flag wins over its variable. A variable that
is set but empty is an error, unless its flag is given. An empty variable of OpenTelemetry
(\`OTEL_…\`) counts as not set. Put values with a password into a variable: every user of the machine
can see the flags of a running command. [Commands](commands.md) describes the commands themselves.

A variable that ends in \`_FILE\` (since 0.2.0) names a file that contains the value, with or without
a line end, for secrets that arrive as files: [credentials of
systemd](../../how-to/operators/install.md#keep-secrets-in-files) and [secrets of
containers](../../how-to/operators/containers.md#keep-secrets-in-files). It is an error if the other
variable is set, too, or if the file cannot be read or is empty.
`;

/** Variables that are not options of a command. */
const otherVariables: readonly {
  readonly names: readonly string[];
  readonly default?: string;
  readonly help: string;
}[] = [
  {
    names: ['NODE_COMPILE_CACHE'],
    help: "Folder for compiled code, which makes the next start faster. Let only the service write to it. The default is `.cache` in the package, if only the service's user can write to the package. In a checkout it is `node_modules/.cache/partner-network`.",
  },
  {
    names: ['PGPASSWORD', 'PGPASSFILE'],
    help: 'Password, or password file, for a Postgres URL without a password.',
  },
  {
    names: ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY', 'COMPRESSION', 'HEADERS'].map(
      (name) => `OTEL_EXPORTER_OTLP_TRACES_${name}`,
    ),
    help: 'The same for traces only. Each wins over the variable without `TRACES_`.',
  },
  {
    names: ['RES_OPTIONS'],
    default: 'timeout:1 attempts:1',
    help: 'Options of the DNS resolver. The default applies to `doctor` only, so that it does not wait long for a name server that does not answer.',
  },
  {
    names: ['PARTNER_NETWORK_INSTANCE'],
    help: 'Random id of the instance in traces and in the names of its Postgres connections. The service sets it for its workers. Leave it unset.',
  },
];

type Named = readonly [flag: string, option: Option<unknown>];

/** Two commands share an option if a reader sees no difference. */
const keyOf = ([flag, { help, default: shown }]: Named) => [flag, help, shown].join();

const sharedOptions = Object.entries(commonOptions);
const sharedKeys = new Set(sharedOptions.map(keyOf));

export async function settingsPage(): Promise<string> {
  const [partners, ...operators] = await describedCommands();
  const commands = [...operators, partners!].flatMap((group) => group.commands);
  const own = commands.map(({ name, command }) => ({
    name,
    options: Object.entries(command.options).filter((named) => !sharedKeys.has(keyOf(named))),
  }));
  // Commands with the same options, such as `serve` and `doctor`, have one section.
  const sections = Map.groupBy(own, ({ options }) => options.map(keyOf).join());
  const withoutShared = Map.groupBy(sharedOptions, (named) => {
    const others = commands.filter(
      ({ command }) => !Object.entries(command.options).map(keyOf).includes(keyOf(named)),
    );
    return listed(others.map(({ name }) => name));
  });
  const takers = [...withoutShared].map(([others, shared]) =>
    paragraph(`All commands take ${listed(shared.map(([flag]) => `--${flag}`))}, except ${others}.`),
  );
  return [
    introduction,
    '## Shared by several commands\n',
    ...takers,
    tableOf(sharedOptions),
    ...[...sections.values()]
      .filter(([first]) => first!.options.length > 0)
      .map((same) => `## ${listed(same.map(({ name }) => name))}\n\n${tableOf(same[0]!.options)}`),
    '## Other variables\n',
    table(
      ['variable', 'default', 'meaning'],
      otherVariables.map((each) => [
        each.names.map(code).join('<br>'),
        each.default === undefined ? '' : code(each.default),
        withCode(each.help),
      ]),
    ),
  ].join('\n');
}

function tableOf(options: readonly Named[]): string {
  return table(['flag, variable', 'default', 'meaning', 'since'], options.map(rowOf));
}

function rowOf([flag, option]: Named): string[] {
  const { valueName, variable, isSecret, isRequired, isRepeatable, since = firstVersion, help } = option;
  const file = option.hasFile ? [fileVariable(variable!)] : [];
  const names = [
    ...(isSecret ? [] : [valueName === undefined ? `--${flag}` : `--${flag} ${valueName}`]),
    ...(variable === undefined ? [] : [variable, ...file]),
  ];
  const fallback = option.default === undefined ? '' : code(option.default);
  return [
    names.map(code).join('<br>'),
    isRequired ? 'required' : fallback,
    withCode(help) + (isRepeatable ? '; may be repeated' : ''),
    since,
  ];
}

/** `a`, `b` and `c`. */
function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names.map(code));
}
