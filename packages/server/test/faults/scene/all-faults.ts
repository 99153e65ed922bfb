/**
 * `npm test` tries one of each kind of faults, and `npm run faults` all of them and for longer: together they
 * would take more than the five minutes that a change should have to wait.
 */
export const areAllTried = process.env.FAULTS !== undefined;

/** Why a test is left out otherwise. */
export const amongAllOnly = areAllTried ? false : '"npm run faults" tries it';
