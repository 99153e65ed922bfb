export default {
  network: {
    input: 'openapi.json',
    output: { target: 'orval/client.ts', client: 'fetch', baseUrl: { getBaseUrlFromSpecification: true } },
  },
};
