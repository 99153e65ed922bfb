/**
 * What is used of node:http while serving. To import it by name reads everything it has to offer, for a
 * module of Node is copied to its names; WebSocket is among them, and for that Node loads the HTTP client
 * behind `fetch`, 14 to 22 % of a start. Taken from the module itself, only these are read.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
