/** What /readyz says while the instance drains. The command `ready` recognizes it. */
export const drainingDetail = 'This instance is draining: it answers the last requests, and then stops.';
