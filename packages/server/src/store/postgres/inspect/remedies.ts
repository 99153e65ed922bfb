/** What to do when a server cannot be reached, or lets nobody in. */

/** By SQLSTATE, its class, or the code of the operating system. */
const remedies: readonly [code: string, remedy: string][] = [
  ['28P01', 'Correct the password: in the URL, PGPASSWORD or the password file.'],
  ['28', "Correct the user in the URL, or let it in by the server's pg_hba.conf."],
  ['3D000', 'Create the database, or correct its name at the end of the URL.'],
  ['42501', 'Grant the role the right to connect to the database.'],
  ['53300', "Raise the server's max_connections, or lower --connections and --workers."],
  ['57P03', 'Wait until the server has started.'],
  ['ECONNREFUSED', 'Start the server, or correct host and port of the URL.'],
  ['ENOTFOUND', 'Correct the host of the URL.'],
  ['EAI_AGAIN', 'Correct the host of the URL, or see to the name server.'],
  ['ENOENT', 'Correct the path of the certificate or key in the URL.'],
];

const otherwise = 'Correct the URL, or see to the server and to the way to it: firewall, TLS, proxy.';

export function remedyOf(code: string | undefined): string {
  return remedies.find(([known]) => code?.startsWith(known))?.[1] ?? otherwise;
}
