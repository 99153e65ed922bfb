/** A host with its port, as a URL has them: an IPv6 address stands in brackets. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export function originOf(host: string, port: number): string {
  return `http://${hostAndPort(host, port)}`;
}
