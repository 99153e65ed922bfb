import { actor, reason } from '../../packages/common/src/command-line/changes.ts';
import { fileVariable, type Option } from '../../packages/common/src/command-line/options.ts';
import { commonOptions } from '../../packages/operator/src/commands/database.ts';
import { describedCommands } from '../../packages/partner-network/src/main.ts';
import { code, table, withCode } from './markdown.ts';

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
    names: ['NO_COLOR', 'FORCE_COLOR', 'TERM'],
    help: 'Colors: `NO_COLOR` and `TERM=dumb` remove them, and `FORCE_COLOR` adds them in a pipe. On a dumb terminal, nothing is drawn.',
  },
  {
    names: ['PGPASSWORD', 'PGPASSFILE'],
    help: 'Password, or password file, for a Postgres URL without a password.',
  },
  {
    names: ['PGSSLMODE', 'PGSSLROOTCERT', 'PGSSLCERT', 'PGSSLKEY'],
    help: 'TLS settings for a Postgres URL without them: `sslmode`, `sslrootcert`, `sslcert` and `sslkey`. The last three count only if there is a mode.',
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
const keyOf = ([flag, { variable, help, default: shown }]: Named) => [flag, variable, help, shown].join();

const sharedKeys = new Set(Object.entries(commonOptions).map(keyOf));

/** The options of all commands that change something. */
const changingKeys = new Set(Object.entries({ actor, reason }).map(keyOf));

/** Whether nearly all commands have this option. */
export const isShared = (named: Named) => sharedKeys.has(keyOf(named));

interface Use {
  /** The heading of the command's group. */
  readonly group: string;
  readonly name: string;
  readonly named: Named;
}

export async function settingsPage(): Promise<string> {
  const [partners, ...operators] = await describedCommands();
  const groups = [...operators, partners!];
  const uses = groups.flatMap(({ heading, commands }) =>
    commands.flatMap(({ name, command }) =>
      Object.entries(command.options).map((named) => ({ group: heading, name, named })),
    ),
  );
  const options = inOptions(uses);
  const shared = options.filter(([first]) => isShared(first!.named));
  const changing = options.filter(([first]) => changingKeys.has(keyOf(first!.named)));
  const serving = options.filter(
    (same) => same.some(({ name }) => name === 'serve') && !shared.includes(same),
  );
  const listedAbove = new Set([...shared, ...changing, ...serving].flat());
  const others = uses.filter((use) => !listedAbove.has(use));
  const names = groups.flatMap(({ commands }) => commands.map(({ name }) => name));
  const mostOf = (takers: readonly string[]) =>
    takers.length > names.length / 2
      ? `all except ${listed(names.filter((name) => !takers.includes(name)))}`
      : 'those for which [Commands](commands.md) lists it';
  return [
    introduction,
    '## Shared by several commands\n',
    tableOf('commands', [...shared, ...changing], mostOf),
    '## serve\n',
    '`doctor` takes all of these, to check them.\n',
    tableOf('also of', serving, (takers) => listed(takers.filter((n) => n !== 'serve' && n !== 'doctor'))),
    '## Other commands\n',
    ...groups.flatMap(({ heading }) => [
      `### ${heading}\n`,
      tableOf('commands', inOptions(others.filter(({ group }) => group === heading)), listed),
    ]),
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

/** The uses of each option. */
function inOptions(uses: readonly Use[]): Use[][] {
  return [...Map.groupBy(uses, ({ named }) => keyOf(named)).values()];
}

/** A row for each option, with the commands that have it. */
function tableOf(
  heading: string,
  options: readonly (readonly Use[])[],
  cellOf: (takers: readonly string[]) => string,
): string {
  const rows = options.map((same) => {
    const [first] = same;
    return [...rowOf(first!.named), sinceOf(same), cellOf(same.map(({ name }) => name))];
  });
  return table(['flag, variable', 'default', 'meaning', 'since', heading], rows);
}

/** The flag with its value, and the variables. */
export function namesOf([flag, { valueName, variable, isSecret, hasFile }]: Named): string[] {
  return [
    ...(isSecret ? [] : [valueName === undefined ? `--${flag}` : `--${flag} ${valueName}`]),
    ...(variable === undefined ? [] : [variable, ...(hasFile ? [fileVariable(variable)] : [])]),
  ];
}

function rowOf(named: Named): string[] {
  const { isRequired, isRepeatable, help, default: shown } = named[1];
  const fallback = shown === undefined ? '' : code(shown);
  return [
    namesOf(named).map(code).join('<br>'),
    isRequired ? 'required' : fallback,
    withCode(help) + (isRepeatable ? '; may be repeated' : ''),
  ];
}

/** The version that added the option to its first command, and to those that got it later. */
function sinceOf(same: readonly Use[]): string {
  const versions = Map.groupBy(same, ({ named }) => named[1].since ?? firstVersion);
  return [...versions]
    .map(([version, uses], index) =>
      index === 0 ? version : `${version}: ${listed(uses.map((u) => u.name))}`,
    )
    .join('<br>');
}

/** `a`, `b` and `c`. */
function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names.map(code));
}
