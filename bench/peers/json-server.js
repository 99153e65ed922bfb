/** json-server on a file of brands, started from a program as its documentation shows. */
import jsonServer from 'json-server';

const app = jsonServer.create();
// A log of requests would be more work, and stand where the address does.
app.use(jsonServer.defaults({ logger: false }));
app.use(jsonServer.router(process.env.DATA_FILE));

const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
