/** The table of commands. */
import type { Command } from '@partner-network/common/command-line/command';

export interface Entry {
  readonly name: string;
  readonly summary: string;
  /** Command lines that its help shows. */
  readonly examples: readonly string[];
  readonly load: () => Promise<Command>;
}

/** The commands that a file exports. The file is loaded only when one of them runs. */
function from<File extends Readonly<Record<keyof File, Command>>>(
  load: () => Promise<File>,
  named: Readonly<Record<keyof File, readonly [name: string, summary: string]>>,
): Entry[] {
  const exported = Object.keys(named) as (keyof File)[];
  return exported.map((key) => {
    const [name, summary] = named[key];
    const examples = (ends[name] ?? []).map((end) => `partner-network ${name} ${end}`.trimEnd());
    return { name, summary, examples, load: async () => (await load())[key] };
  });
}

/** What follows the name of a command in the examples of its help. */
const ends: Readonly<Record<string, readonly string[]>> = {
  sandbox: ['', '--port 9000 --data /tmp/sandbox'],
  rehearse: [
    '-- node sync-brands.js',
    '--listing balances --junit report.xml -- python3 balances.py',
    '--scenario rate-limited --scenario torn -- ./walk.sh',
    '',
  ],
  'brands list': ['--limit 5', '--all --json'],
  'balances list': ['--customer CUSTOMER_1001', '--customer CUSTOMER_1001 --grant-id GRANT_1001'],
  conformance: ['https://network.example/network/v1', 'http://127.0.0.1:8080/network/v1 --html report.html'],
  serve: ['--public-url https://network.example', '--environment sandbox --port 8081 --ops-port 9093'],
  admin: ['--port 8090'],
  roles: ['--json'],
  ready: ['--ops-port 9091', '--wait 60'],
  files: ['', 'haproxy.cfg', 'alerts.md'],
  'partners limit': ['PARTNER_1 --brands 20', 'PARTNER_1 --brands default --balances 100'],
  'keys create': ['--partner PARTNER_1 --scope BRANDS_READ'],
  'admin-keys create': ['--name support-ana --role SUPPORT', '--name balances-feed --role INGEST --json'],
  'grants revoke': ['GRANT_1', '--customer CUSTOMER_1 --all'],
  'import brands': [
    'brands.csv --partner PARTNER_1 --dry-run',
    'brands.jsonl --undo-file undo.jsonl',
    'undo.jsonl --overwrite',
  ],
  'import balances': [
    'balances.csv --dry-run',
    'balances.csv --undo-file undo.jsonl',
    'undo.jsonl --overwrite',
    '- --follow --rejected-file rejected.jsonl',
  ],
  'import grants': ['grants.jsonl --dry-run'],
  'audit list': [
    '--since 24h',
    '--target PARTNER_1 --json',
    '--follow --digest --after chain.jsonl >> chain.jsonl',
  ],
  'audit verify': ['chain.jsonl'],
  'usage list': ['--partner PARTNER_1 --since 24h', '--by day --since 30d --json'],
};

/** The commands of each file, under the headings of the help. */
const files: Readonly<Record<string, readonly Entry[][]>> = {
  'For partners, with an API key': [
    from(() => import('@partner-network/operator/commands/sandbox'), {
      sandbox: ['sandbox', 'Run a sandbox with demo data and a demo key (start here)'],
    }),
    from(() => import('@partner-network/partner/rehearse/rehearse'), {
      rehearse: ['rehearse', 'Run your program against failures, and see whether it copes'],
    }),
    from(() => import('@partner-network/partner/commands/lists'), {
      listBrands: ['brands list', 'List your brands'],
      listBalances: ['balances list', "List a customer's balances"],
    }),
    from(() => import('@partner-network/partner/commands/conformance'), {
      conformance: ['conformance', 'Check over HTTP whether a deployment follows the specification'],
    }),
  ],
  'For operators, to run the service': [
    from(() => import('@partner-network/operator/commands/serve'), {
      serve: ['serve', 'Serve the API, for production or as a sandbox'],
    }),
    from(() => import('@partner-network/operator/commands/admin'), {
      admin: ['admin', 'Serve the administrative API and its console, to send data and manage access'],
    }),
    from(() => import('@partner-network/operator/commands/schema'), {
      migrate: ['migrate', 'Create the database, or update its schema'],
      printRoles: ['roles', 'Print the SQL of the database roles for Postgres'],
    }),
    from(() => import('@partner-network/operator/commands/ready'), {
      ready: ['ready', 'Exit with status 0 if an instance is ready, for health checks'],
    }),
    from(() => import('@partner-network/operator/commands/doctor'), {
      doctor: ['doctor', 'Check what serve needs, and say how to fix each finding'],
    }),
    from(async () => ({ printFiles: (await import('./files.ts')).printFiles }), {
      printFiles: ['files', 'List or print the guides, units, alerts and other files for operators'],
    }),
    from(() => import('@partner-network/operator/commands/backup'), {
      backup: ['backup', 'Copy the embedded database and its receipts, even while in use'],
    }),
    from(() => import('@partner-network/operator/commands/cursor-key'), {
      rotateCursorKey: ['cursor-key rotate', 'Replace the key that seals cursors'],
      listCursorKeys: ['cursor-key list', 'List the cursor keys, without their secrets'],
    }),
  ],
  'For operators, to manage partners, keys, grants and customers': [
    from(() => import('@partner-network/operator/commands/partners'), {
      createPartner: ['partners create', 'Create a partner'],
      listPartners: ['partners list', 'List all partners'],
      disablePartner: ['partners disable', "Refuse all of a partner's keys"],
      enablePartner: ['partners enable', "Accept a disabled partner's keys again"],
      renamePartner: ['partners rename', 'Change the name of a partner'],
      limitPartner: ['partners limit', "Set or remove a partner's own rate limits"],
    }),
    from(() => import('@partner-network/operator/commands/keys'), {
      createKey: ['keys create', 'Create an API key, which is shown only once'],
      listKeys: ['keys list', 'List the keys of one partner or of all, without their secrets'],
      findKey: ['keys find', 'Find the owner of a leaked key, without printing the key'],
      revokeKey: ['keys revoke', 'Revoke a key for good'],
      rotateKey: ['keys rotate', 'Replace a key; the old key works for a while longer'],
      createAdminKey: [
        'admin-keys create',
        'Create a key of the administrative service, which is shown only once',
      ],
      listAdminKeys: ['admin-keys list', 'List the administrative keys, without their secrets'],
      revokeAdminKey: ['admin-keys revoke', 'Revoke an administrative key for good'],
      rotateAdminKey: [
        'admin-keys rotate',
        'Replace an administrative key; the old key works for a while longer',
      ],
    }),
    from(() => import('@partner-network/operator/commands/grants'), {
      createGrant: ['grants create', "Let a partner read a customer's balances"],
      listGrants: ['grants list', 'List the grants of a partner or a customer'],
      revokeGrant: ['grants revoke', 'Revoke a grant, or all grants of a customer, for good'],
      eraseCustomer: ['customers erase', "Delete a customer's balances and grants for good"],
    }),
  ],
  'For operators, to move and check data': [
    from(() => import('@partner-network/operator/commands/import/import'), {
      importBrands: ['import brands', 'Import brands from a file'],
      importBalances: ['import balances', 'Import balances from a file'],
      importGrants: ['import grants', 'Import grants from a file'],
    }),
    from(() => import('@partner-network/operator/commands/move'), {
      importErasures: ['import erasures', 'Repeat the erasures of another database'],
      exportBrands: ['export brands', 'Print the brands of one partner or of all, for an import'],
      exportBalances: ['export balances', 'Print all balances, for an import'],
      exportGrants: ['export grants', 'Print all grants, for an import'],
      exportErasures: ['export erasures', 'Print which customers were erased, for an import'],
      exportPartners: ['partners export', 'Print all partners with the digests of their keys'],
      importPartners: ['partners import', 'Import the output of "partners export"; all keys keep working'],
    }),
    from(() => import('@partner-network/operator/commands/check-images'), {
      checkImages: ['brands check-images', "Download and check the images of a partner's brands"],
    }),
  ],
  'For operators, to audit changes and requests for balances': [
    from(() => import('@partner-network/operator/commands/audit'), {
      listAudit: ['audit list', 'List who changed what, newest first'],
      verifyAudit: ['audit verify', 'Compare a copy of the audit log with the database'],
    }),
    from(() => import('@partner-network/operator/commands/receipts-and-usage'), {
      listReceipts: ['receipts list', 'List who requested whose balances, newest first'],
      pruneReceipts: ['receipts prune', 'Delete old receipts'],
      listUsage: ['usage list', 'List how many answers each key got, by operation and code, newest first'],
      pruneUsage: ['usage prune', 'Delete old counts of answers'],
    }),
  ],
  'For your shell': [
    [
      {
        name: 'completion',
        summary: 'Print a script for your shell to source, so that Tab completes commands, flags and files',
        examples: ['bash', 'zsh', 'fish'].map((shell) => `partner-network completion ${shell}`),
        load: async () => (await import('./completion.ts')).completionOf(commands),
      },
    ],
  ],
};

/** All commands, in the order of the help. */
export const groups = Object.entries(files).map(([heading, group]) => ({ heading, commands: group.flat() }));
export const commands: readonly Entry[] = groups.flatMap((group) => group.commands);
