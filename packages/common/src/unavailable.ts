/** A part that the service needs, such as its database, cannot answer now. The client gets a 503. */
export class Unavailable extends Error {}
