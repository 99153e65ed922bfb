/** Whom a service turned away because there was more to do than time for it, by what it tells operators. */
export async function requestsShed(operationsUrl: string, reason = ''): Promise<number> {
  const metrics = await (await fetch(`${operationsUrl}/metrics`)).text();
  const told = [...metrics.matchAll(/^partner_network_requests_shed_total\{(.*)\} (\d+)$/gm)];
  const wanted = told.filter(([, labels]) => labels!.includes(reason));
  return wanted.reduce((sum, [, , count]) => sum + Number(count), 0);
}
