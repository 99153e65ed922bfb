/**
 * `npm test` tries one of each kind of faults, and `npm run chaos` all of them and for longer: together they
 * would take more than the five minutes that a change should have to wait.
 */
export const isChaos = process.env.CHAOS !== undefined;

/** Why a test is left out otherwise. */
export const inChaosOnly = isChaos ? false : '"npm run chaos" tries it';
