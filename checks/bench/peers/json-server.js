/** json-server on a file of brands, started from a program as its documentation shows. */
import jsonServer from 'json-server';

const app = jsonServer.create();
// Without a log of requests, which would cost time and hide the address.
app.use(jsonServer.defaults({ logger: false }));
app.use(jsonServer.router(process.env.DATA_FILE));

const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
